import math
import random

from envpool import Environment


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))


class NextPrime(Environment):
    rule = (
        "Give the smallest prime number that is larger than the input. A prime is larger than 1 and "
        "divisible only by 1 and itself."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(6 * 4**level, 40 * 4**level)

    def solve(self, x: int) -> int:
        x += 1
        while not _is_prime(x):
            x += 1
        return x

    def accepts(self, x: int) -> bool:
        return 0 <= x <= 10**6
