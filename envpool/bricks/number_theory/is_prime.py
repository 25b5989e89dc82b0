import math
import random

from envpool import Environment


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))


class IsPrime(Environment):
    rule = (
        "Is the input a prime number, that is, larger than 1 and divisible by no whole number above zero "
        "but 1 and itself?"
    )

    def sample(self, rng: random.Random, level: int) -> int:
        number = 2 * rng.randint(3 * 4**level, 20 * 4**level) + 1
        wanted = rng.random() < 0.5
        while _is_prime(number) != wanted:
            number += 2
        return number

    def solve(self, x: int) -> bool:
        return _is_prime(x)

    def accepts(self, x: int) -> bool:
        return abs(x) <= 10**6
