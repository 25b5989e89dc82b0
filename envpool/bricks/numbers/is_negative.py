import random

from envpool import Environment


class IsNegative(Environment):
    rule = "Is the input smaller than zero?"

    def sample(self, rng: random.Random, level: int) -> int:
        size = rng.randint(10**level, 10 ** (level + 2) - 1)
        return rng.choice((size, -size))

    def solve(self, x: int) -> bool:
        return x < 0
