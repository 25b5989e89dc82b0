import math
import random

from envpool import Environment


class ProductOfAll(Environment):
    rule = "Multiply all numbers of the input list with each other."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.choice((-1, 1, 1)) * rng.randint(1, 9) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> int:
        return math.prod(x)

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 10 and all(abs(n) <= 1000 for n in x)
