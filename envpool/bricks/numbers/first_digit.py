import random

from envpool import Environment


class FirstDigit(Environment):
    rule = "Give the first digit of the input, its sign aside."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (level + 1), 10 ** (level + 2) - 1)

    def solve(self, x: int) -> int:
        return int(str(abs(x))[0])
