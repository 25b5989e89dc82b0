import math
import random

from envpool import Environment


class SumSmallerDivisors(Environment):
    rule = (
        "The input is above zero. Add up all whole numbers above zero that divide it without remainder and "
        "are smaller than it. For 1 the sum is 0."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(6 * 4**level, 40 * 4**level)

    def solve(self, x: int) -> int:
        small = [d for d in range(1, math.isqrt(x) + 1) if x % d == 0]
        return sum({*small, *(x // d for d in small)}) - x

    def accepts(self, x: int) -> bool:
        return 1 <= x <= 10**6
