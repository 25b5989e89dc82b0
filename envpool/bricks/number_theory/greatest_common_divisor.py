import math
import random

from envpool import Environment


class GreatestCommonDivisor(Environment):
    rule = "Give the largest whole number that divides both numbers of the input pair without remainder."

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        low = 4**level
        common = rng.randint(low + 1, 6 * low + 3)
        return common * rng.randint(2, 9), common * rng.randint(2, 9)

    def solve(self, x: tuple[int, int]) -> int:
        return math.gcd(*x)

    def accepts(self, x: tuple[int, int]) -> bool:
        return all(0 < n <= 10**9 for n in x)
