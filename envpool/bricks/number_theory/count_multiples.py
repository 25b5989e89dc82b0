import random

from envpool import Environment


class CountMultiples(Environment):
    rule = (
        "The input is not negative. Count the whole numbers from 1 up to and including it that can be divided "
        "by three or by five or by both without remainder."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(6 * 4**level, 40 * 4**level)

    def solve(self, x: int) -> int:
        return x // 3 + x // 5 - x // 15

    def accepts(self, x: int) -> bool:
        return 0 <= x <= 10**15
