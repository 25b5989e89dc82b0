import random

from envpool import Environment


class RepeatedDigitSum(Environment):
    rule = "The input is not negative. Replace it by the sum of its digits until one digit is left. Give that digit."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (level + 1), 10 ** (level + 2) - 1)

    def solve(self, x: int) -> int:
        while x > 9:
            x = sum(int(digit) for digit in str(x))
        return x

    def accepts(self, x: int) -> bool:
        return 0 <= x <= 10**30
