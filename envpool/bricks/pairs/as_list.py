import random

from envpool import Environment


class AsList(Environment):
    rule = "List three numbers: the first of the input pair, the sum of both, the second."

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        return rng.randint(0, 10 ** (level + 1) - 1), rng.randint(10**level, 10 ** (level + 1) - 1)

    def solve(self, x: tuple[int, int]) -> list[int]:
        return [x[0], x[0] + x[1], x[1]]
