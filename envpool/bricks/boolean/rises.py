import itertools
import random

from envpool import Environment


class Rises(Environment):
    rule = (
        "For every number of the input list but the first, say whether it is larger than the number "
        "just before it."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(5 + level)]

    def solve(self, x: list[int]) -> list[bool]:
        return [a < b for a, b in itertools.pairwise(x)]

    def accepts(self, x: list[int]) -> bool:
        return 1 < len(x) <= 25
