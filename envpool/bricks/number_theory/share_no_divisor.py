import math
import random

from envpool import Environment


class ShareNoDivisor(Environment):
    rule = (
        "Is 1 the only whole number above zero that divides both numbers of the input pair without remainder?"
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        wanted = rng.random() < 0.5
        first = rng.randint(6 * 4**level, 30 * 4**level)
        second = rng.randint(6 * 4**level, 30 * 4**level)
        while (math.gcd(first, second) == 1) != wanted:
            second += 1
        return first, second

    def solve(self, x: tuple[int, int]) -> bool:
        return math.gcd(*x) == 1

    def accepts(self, x: tuple[int, int]) -> bool:
        return all(0 < n <= 10**9 for n in x)
