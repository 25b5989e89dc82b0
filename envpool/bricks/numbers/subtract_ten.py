import random

from envpool import Environment


class SubtractTen(Environment):
    rule = "Subtract ten from the input."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (level + 1), 10 ** (level + 2) - 1)

    def solve(self, x: int) -> int:
        return x - 10
