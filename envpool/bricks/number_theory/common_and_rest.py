import math
import random

from envpool import Environment


class CommonAndRest(Environment):
    rule = (
        "Let d be the largest whole number that divides both numbers of the input pair. Give three "
        "numbers: d, the first number divided by d, the second number divided by d."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        low = 3**level
        common = rng.randint(low + 1, 6 * low + 3)
        return common * rng.randint(2, 9), common * rng.randint(2, 9)

    def solve(self, x: tuple[int, int]) -> tuple[int, int, int]:
        common = math.gcd(*x)
        return common, x[0] // common, x[1] // common

    def accepts(self, x: tuple[int, int]) -> bool:
        return all(0 < n <= 10**9 for n in x)
