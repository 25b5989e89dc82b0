import math
import random

from envpool import Environment


class CommonDivisorOfAll(Environment):
    rule = "Give the largest whole number that divides every number of the input list without remainder."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        common = rng.randint(2, 9 + 4 * level)
        return [common * rng.randint(1, 9 + 3 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> int:
        return math.gcd(*x)

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30 and all(0 < n <= 10**12 for n in x)
