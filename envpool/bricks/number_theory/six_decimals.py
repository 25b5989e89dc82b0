import random

from envpool import Environment


class SixDecimals(Environment):
    rule = (
        "The input is a pair of numbers, none negative. Divide the first by the second. List the first six "
        "digits after the decimal point, without rounding; where the digits end earlier, zeros follow."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        low = 4**level
        return rng.randint(low, 9 * low), rng.randint(2 + low, 12 * low)

    def solve(self, x: tuple[int, int]) -> list[int]:
        return [10**place * x[0] // x[1] % 10 for place in range(1, 7)]

    def accepts(self, x: tuple[int, int]) -> bool:
        return 0 <= x[0] <= 10**9 and 1 <= x[1] <= 10**9
