import random

from envpool import Environment


class BinaryDigits(Environment):
    rule = (
        "Write the input, which is not negative, in base two without leading zeros, and list its digits from "
        "the most significant on: true for 1, false for 0. For 0 list one false."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (1 + level), 10 ** (2 + level) - 1)

    def solve(self, x: int) -> list[bool]:
        return [digit == "1" for digit in f"{x:b}"]

    def accepts(self, x: int) -> bool:
        return 0 <= x < 10**9
