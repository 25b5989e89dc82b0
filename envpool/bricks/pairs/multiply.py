import random

from envpool import Environment


class Multiply(Environment):
    rule = "Multiply the two numbers of the input pair."

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        return rng.randint(0, 10 ** (level + 1) - 1), rng.randint(10**level, 10 ** (level + 1) - 1)

    def solve(self, x: tuple[int, int]) -> int:
        return x[0] * x[1]

    def accepts(self, x: tuple[int, int]) -> bool:
        return max(abs(x[0]), abs(x[1])) <= 10**15
