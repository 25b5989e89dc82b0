import random

from envpool import Environment


class Half(Environment):
    rule = "Divide the input by two and drop any remainder."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(1, 40 * 4**level)

    def solve(self, x: int) -> int:
        return x // 2

    def accepts(self, x: int) -> bool:
        return x >= 0
