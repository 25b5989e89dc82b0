import math
import random

from envpool import Environment


class WholeSquareRoot(Environment):
    rule = "Give the largest whole number whose square is not larger than the input."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 * 5**level, 100 * 5**level)

    def solve(self, x: int) -> int:
        return math.isqrt(x)

    def accepts(self, x: int) -> bool:
        return 0 <= x <= 10**15
