import random

from envpool import Environment


class DigitSum(Environment):
    rule = "Add up the digits of the input, its sign aside."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (level + 1), 10 ** (level + 2) - 1)

    def solve(self, x: int) -> int:
        return sum(int(digit) for digit in str(abs(x)))
