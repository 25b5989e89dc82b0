import random

from envpool import Environment


class HalveOrTriple(Environment):
    rule = "If the input is even, halve it. If it is odd, multiply it by three and add one."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(6 * 4**level, 40 * 4**level)

    def solve(self, x: int) -> int:
        return x // 2 if x % 2 == 0 else 3 * x + 1

    def accepts(self, x: int) -> bool:
        return abs(x) <= 10**15
