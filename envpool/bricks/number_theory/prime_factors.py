import random

from envpool import Environment


class PrimeFactors(Environment):
    rule = (
        "List the prime numbers whose product is the input, repeated ones as often as they occur in it, "
        "from the smallest to the largest. For 1 the list is empty."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(6 * 4**level, 40 * 4**level)

    def solve(self, x: int) -> list[int]:
        factors, divisor = [], 2
        while x > 1:
            while x % divisor == 0:
                factors.append(divisor)
                x //= divisor
            divisor = divisor + 1 if divisor * divisor <= x else x
        return factors

    def accepts(self, x: int) -> bool:
        return 1 <= x <= 10**6
