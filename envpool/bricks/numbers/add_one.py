import random

from envpool import Environment


class AddOne(Environment):
    rule = "Add one to the input."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10**level, 10 ** (level + 2) - 1)

    def solve(self, x: int) -> int:
        return x + 1
