import random

from envpool import Environment


class ReverseDigits(Environment):
    rule = "Write the digits of the input backwards, as text."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (level + 1), 10 ** (level + 2) - 1)

    def solve(self, x: int) -> str:
        return str(abs(x))[::-1]
