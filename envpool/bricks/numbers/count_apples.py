import random

from envpool import Environment


class CountApples(Environment):
    rule = "Write the input, a space and the word apples."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10**level, 10 ** (level + 2) - 1)

    def solve(self, x: int) -> str:
        return f"{x} apples"
