import math
import random

from envpool import Environment


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))


class GoldbachPair(Environment):
    rule = (
        "A prime is larger than 1 and divisible only by 1 and itself. Give the pair of primes whose sum "
        "is the input, with the first as small as possible."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return 2 * rng.randint(3 * 4**level, 20 * 4**level)

    def solve(self, x: int) -> tuple[int, int]:
        first = next(n for n in range(2, x if x % 2 == 0 else 3) if _is_prime(n) and _is_prime(x - n))
        return first, x - first

    def accepts(self, x: int) -> bool:
        return 4 <= x <= 10**5 and x % 2 == 0
