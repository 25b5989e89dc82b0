import random

from envpool import Environment


class AddOne(Environment):
    rule = "Add one to the input."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(1, 40 * 4**level)

    def solve(self, x: int) -> int:
        return x + 1
