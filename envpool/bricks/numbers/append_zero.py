import random

from envpool import Environment


class AppendZero(Environment):
    rule = "Multiply the input by ten."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(1, 40 * 4**level)

    def solve(self, x: int) -> int:
        return 10 * x

    def accepts(self, x: int) -> bool:
        return abs(x) <= 10**15
