import math
import random

from envpool import Environment


class FactorPairs(Environment):
    rule = (
        "The input is above zero. List all pairs of whole numbers above zero whose product it is and whose "
        "first number is not larger than the second, by increasing first number."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(6 * 4**level, 40 * 4**level)

    def solve(self, x: int) -> list[tuple[int, int]]:
        return [(d, x // d) for d in range(1, math.isqrt(x) + 1) if x % d == 0]

    def accepts(self, x: int) -> bool:
        return 1 <= x <= 10**6
