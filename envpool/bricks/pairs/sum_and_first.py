import random

from envpool import Environment


class SumAndFirst(Environment):
    rule = "Give a pair: the sum of the input pair, then its first number."

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        return rng.randint(0, 10 ** (level + 1) - 1), rng.randint(10**level, 10 ** (level + 1) - 1)

    def solve(self, x: tuple[int, int]) -> tuple[int, int]:
        return x[0] + x[1], x[0]
