import random

from envpool import Environment


class IsEven(Environment):
    rule = "Is the input an even number?"

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10**level, 10 ** (level + 2) - 1)

    def solve(self, x: int) -> bool:
        return x % 2 == 0
