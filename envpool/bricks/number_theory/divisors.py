import math
import random

from envpool import Environment


class Divisors(Environment):
    rule = (
        "The input is above zero. List in increasing order all whole numbers above zero that divide it "
        "without remainder, 1 and the input included."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(6 * 4**level, 40 * 4**level)

    def solve(self, x: int) -> list[int]:
        small = [d for d in range(1, math.isqrt(x) + 1) if x % d == 0]
        return sorted({*small, *(x // d for d in small)})

    def accepts(self, x: int) -> bool:
        return 1 <= x <= 10**6
