import random

from envpool import Environment


class CountCoprime(Environment):
    rule = (
        "Count the whole numbers from 1 up to and including the input that have no divisor larger than 1 "
        "in common with it."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(6 * 4**level, 40 * 4**level)

    def solve(self, x: int) -> int:
        count, rest, divisor = max(0, x), x, 2
        while rest > 1:
            if rest % divisor == 0:
                count -= count // divisor
            while rest % divisor == 0:
                rest //= divisor
            divisor = divisor + 1 if divisor * divisor <= rest else rest
        return count

    def accepts(self, x: int) -> bool:
        return 1 <= x <= 10**6
