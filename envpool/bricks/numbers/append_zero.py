import random

from envpool import Environment


class AppendZero(Environment):
    rule = "Multiply the input by ten."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10**level, 10 ** (level + 2) - 1)

    def solve(self, x: int) -> int:
        return 10 * x

    def accepts(self, x: int) -> bool:
        return abs(x) <= 10**15
