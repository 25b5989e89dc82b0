import math
import random

from envpool import Environment


class ChineseRemainder(Environment):
    rule = (
        "Each pair (m, r) says that a number leaves remainder r when divided by m. "
        "Give the smallest number from 0 on for which all pairs hold."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        primes = [n for n in range(2, 10 + 10 * level) if all(n % d for d in range(2, math.isqrt(n) + 1))]
        moduli = rng.sample(primes, 1 + level)
        number = rng.randrange(math.prod(moduli))
        return [(modulus, number % modulus) for modulus in moduli]

    def solve(self, x: list[tuple[int, int]]) -> int:
        number, step = 0, 1
        for modulus, remainder in x:
            number += step * ((remainder - number) * pow(step, -1, modulus) % modulus)
            step *= modulus
        return number

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        moduli = [modulus for modulus, _ in x]
        if not x or not all(0 <= remainder < modulus for modulus, remainder in x):
            return False
        return math.lcm(*moduli) == math.prod(moduli)
