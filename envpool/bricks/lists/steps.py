import itertools
import random

from envpool import Environment


class Steps(Environment):
    rule = "From each number of the input list except the first, subtract the number just before it."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return [b - a for a, b in itertools.pairwise(x)]

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 1
