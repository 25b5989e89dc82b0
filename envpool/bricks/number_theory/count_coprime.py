import math
import random

from envpool import Environment


class CountCoprime(Environment):
    rule = (
        "Count the whole numbers from 1 up to and including the input that have no divisor larger than 1 "
        "in common with it."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(6 * 5**level // 2**level, 30 * 5**level // 2**level)

    def solve(self, x: int) -> int:
        return sum(math.gcd(n, x) == 1 for n in range(1, x + 1))

    def accepts(self, x: int) -> bool:
        return 1 <= x <= 5000
