import random

from envpool import Environment


class PrimePowers(Environment):
    rule = (
        "Write the input as a product of powers of different primes with exponents above zero; give for "
        "each prime its exponent."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(6 * 4**level, 40 * 4**level)

    def solve(self, x: int) -> dict[int, int]:
        exponents, divisor = {}, 2
        while x > 1:
            while x % divisor == 0:
                exponents[divisor] = exponents.get(divisor, 0) + 1
                x //= divisor
            divisor = divisor + 1 if divisor * divisor <= x else x
        return exponents

    def accepts(self, x: int) -> bool:
        return 2 <= x <= 10**6
