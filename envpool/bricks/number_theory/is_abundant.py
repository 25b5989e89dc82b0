import math
import random

from envpool import Environment


def _is_abundant(n: int) -> bool:
    small = [d for d in range(1, math.isqrt(n) + 1) if n % d == 0]
    return sum({*small, *(n // d for d in small)}) > 2 * n


class IsAbundant(Environment):
    rule = (
        "The input is above zero. Add up all whole numbers above zero that divide it without remainder and "
        "are smaller than it. Is the sum larger than the input?"
    )

    def sample(self, rng: random.Random, level: int) -> int:
        number = rng.randint(10 * 4**level, 80 * 4**level)
        wanted = rng.random() < 0.5
        while _is_abundant(number) != wanted:
            number += 1
        return number

    def solve(self, x: int) -> bool:
        return _is_abundant(x)

    def accepts(self, x: int) -> bool:
        return 1 <= x <= 10**6
