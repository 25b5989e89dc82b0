import math
import random

from envpool import Environment


class InverseModulo(Environment):
    rule = (
        "The input is a pair (a, m). Give the whole number b from 1 to m - 1 for which a times b leaves "
        "the remainder 1 when divided by m."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        divisor = rng.randint(5 * 2**level, 12 * 3**level)
        number = rng.randint(2, divisor - 1)
        while math.gcd(number, divisor) > 1:
            number -= 1
        return number + divisor * rng.randint(0, 1), divisor

    def solve(self, x: tuple[int, int]) -> int:
        return pow(x[0], -1, x[1])

    def accepts(self, x: tuple[int, int]) -> bool:
        return 1 <= x[0] <= 10**6 and 2 <= x[1] <= 10**4 and math.gcd(*x) == 1
