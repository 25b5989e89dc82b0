import random

from envpool import Environment


class ChangeSign(Environment):
    rule = "Change the sign of the input: plus becomes minus, minus becomes plus."

    def sample(self, rng: random.Random, level: int) -> int:
        size = rng.randint(10**level, 10 ** (level + 2) - 1)
        return rng.choice((size, -size))

    def solve(self, x: int) -> int:
        return -x
