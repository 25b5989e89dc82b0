import random

from envpool import Environment

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class SpellDigits(Environment):
    rule = "Write each digit of the input as an English word, separated by spaces."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10**level, 10 ** (level + 2) - 1)

    def solve(self, x: int) -> str:
        return " ".join(NAMES[int(digit)] for digit in str(abs(x)))
