import random

from envpool import Environment


class Square(Environment):
    rule = "Multiply the input by itself."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(2, 20 * 4**level)

    def solve(self, x: int) -> int:
        return x * x

    def accepts(self, x: int) -> bool:
        return abs(x) <= 10**9
