import random

from envpool import Environment


class LastDigit(Environment):
    rule = "Give the last digit of the input, its sign aside."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (level + 1), 10 ** (level + 2) - 1)

    def solve(self, x: int) -> int:
        return abs(x) % 10
