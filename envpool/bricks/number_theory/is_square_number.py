import math
import random

from envpool import Environment


class IsSquareNumber(Environment):
    rule = "Is the input the square of a whole number, such as 0, 1, 4 or 9?"

    def sample(self, rng: random.Random, level: int) -> int:
        root = rng.randint(4 * 2**level, 20 * 2**level)
        return root * root + (0 if rng.random() < 0.5 else rng.choice((-4, -3, -2, 2, 3, 4, 5)))

    def solve(self, x: int) -> bool:
        return x >= 0 and math.isqrt(x) ** 2 == x

    def accepts(self, x: int) -> bool:
        return abs(x) <= 10**15
