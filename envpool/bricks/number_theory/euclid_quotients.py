import random

from envpool import Environment


class EuclidQuotients(Environment):
    rule = (
        "The input is a pair of numbers, none negative. Divide the first by the second; keep the whole "
        "quotient. If a remainder is left, divide the divisor by the remainder in the same way, and so on "
        "until none is left. List the quotients in order."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        low = 10 * 3**level
        return rng.randint(low, 9 * low), rng.randint(low, 4 * low)

    def solve(self, x: tuple[int, int]) -> list[int]:
        first, second = x
        quotients = []
        while second:
            quotients.append(first // second)
            first, second = second, first % second
        return quotients

    def accepts(self, x: tuple[int, int]) -> bool:
        return 0 <= x[0] <= 10**12 and 1 <= x[1] <= 10**12
