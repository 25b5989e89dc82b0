import random

from envpool import Environment


class SameEndDigits(Environment):
    rule = "Is the first digit of the input the same as its last digit?"

    def sample(self, rng: random.Random, level: int) -> int:
        digits = str(rng.randint(10 ** (level + 1), 10 ** (level + 2) - 1))
        shift = 0 if rng.random() < 0.5 else rng.randint(1, 9)
        return int(digits[:-1] + str((int(digits[0]) + shift) % 10))

    def solve(self, x: int) -> bool:
        return str(abs(x))[0] == str(abs(x))[-1]
