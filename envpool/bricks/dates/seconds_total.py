import random

from envpool import Environment


class SecondsTotal(Environment):
    rule = "The input is (hours, minutes, seconds), each any whole number. Give the total in seconds."

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int]:
        return rng.randint(10**level, 10 ** (level + 1) - 1), rng.randint(0, 59), rng.randint(0, 59)

    def solve(self, x: tuple[int, int, int]) -> int:
        return 3600 * x[0] + 60 * x[1] + x[2]
