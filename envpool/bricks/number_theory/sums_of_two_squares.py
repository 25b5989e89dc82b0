import math
import random

from envpool import Environment


class SumsOfTwoSquares(Environment):
    rule = (
        "The input is not negative. List all pairs of whole numbers from 0 up whose squares add up to it and "
        "whose first number is not larger than the second, by increasing first number."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(1, 4 * 2**level) ** 2 + rng.randint(2 * 2**level, 5 * 2**level) ** 2

    def solve(self, x: int) -> list[tuple[int, int]]:
        halves = range(math.isqrt(x // 2) + 1)
        return [(n, math.isqrt(x - n * n)) for n in halves if math.isqrt(x - n * n) ** 2 == x - n * n]

    def accepts(self, x: int) -> bool:
        return 0 <= x <= 10**6
