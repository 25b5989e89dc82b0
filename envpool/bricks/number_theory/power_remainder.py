import random

from envpool import Environment


class PowerRemainder(Environment):
    rule = (
        "The input holds a base, an exponent and a divisor, none of them negative. Raise the base to the "
        "exponent and give the remainder when the result is divided by the divisor. A number to the power 0 is 1."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int]:
        top = 9 * 3**level
        return (
            rng.randint(2 + top // 9, 2 + top),
            rng.randint(2, 4 + 8 * level),
            rng.randint(4 + top // 9, 8 + top),
        )

    def solve(self, x: tuple[int, int, int]) -> int:
        return pow(x[0], x[1], x[2])

    def accepts(self, x: tuple[int, int, int]) -> bool:
        return 0 <= x[0] <= 10**6 and 0 <= x[1] <= 10**4 and 2 <= x[2] <= 10**6
