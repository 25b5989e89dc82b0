import random

from envpool import Environment


class Smaller(Environment):
    rule = "Give the smaller number of the input pair."

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        return rng.randint(0, 10 ** (level + 1) - 1), rng.randint(10**level, 10 ** (level + 1) - 1)

    def solve(self, x: tuple[int, int]) -> int:
        return min(x)
