import random

from envpool import Environment


class Double(Environment):
    rule = "Multiply the input by two."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(1, 40 * 4**level)

    def solve(self, x: int) -> int:
        return 2 * x
