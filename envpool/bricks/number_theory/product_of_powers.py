import math
import random

from envpool import Environment


class ProductOfPowers(Environment):
    rule = (
        "Raise each key of the input to the power of its value; a number to the power 0 is 1. Multiply "
        "all the results."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, int]:
        keys = rng.sample(range(2, 10) if level in (0, 1, 3) else range(6, 30), 2 + (level + 1) // 2)
        return {key: rng.choice((0, 1, 1, 2, 2, 3)) for key in keys}

    def solve(self, x: dict[int, int]) -> int:
        return math.prod(key**value for key, value in x.items())

    def accepts(self, x: dict[int, int]) -> bool:
        return 1 <= len(x) <= 8 and all(abs(key) <= 1000 and 0 <= value <= 5 for key, value in x.items())
