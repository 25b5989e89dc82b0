import itertools
import random

from envpool import Environment


class UpsAndDowns(Environment):
    rule = (
        "For each number of the input list but the first, write up if it is larger than the one before it, "
        "down if smaller, same if equal."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 4 + 5 * level) for _ in range(4 + level)]

    def solve(self, x: list[int]) -> list[str]:
        return ["up" if b > a else "down" if b < a else "same" for a, b in itertools.pairwise(x)]

    def accepts(self, x: list[int]) -> bool:
        return 1 < len(x) <= 12
