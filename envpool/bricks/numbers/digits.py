import random

from envpool import Environment


class Digits(Environment):
    rule = "List the digits of the input in order."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (level + 1), 10 ** (level + 2) - 1)

    def solve(self, x: int) -> list[int]:
        return [int(digit) for digit in str(abs(x))]
