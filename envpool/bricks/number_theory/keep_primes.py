import math
import random

from envpool import Environment


class KeepPrimes(Environment):
    rule = (
        "Keep only the prime numbers of the input list, in order. A prime is larger than 1 and divisible "
        "only by 1 and itself."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(2, 19 + 10 * level) for _ in range(5 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return [n for n in x if n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))]

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30 and all(abs(n) <= 10**5 for n in x)
