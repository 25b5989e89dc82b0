import random
from datetime import date

from envpool import Environment


class LastSundayOfMarch(Environment):
    rule = (
        "Give as (year, month, day) the last Sunday of March in the year of the input, in the Gregorian "
        "calendar: 1 January 2000 was a Saturday; a year is a leap year if 4 divides it and 100 does not, "
        "or if 400 does."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (level + 2), 3 * 10 ** (level + 2))

    def solve(self, x: int) -> tuple[int, int, int]:
        return x, 3, 31 - date(2000 + x % 400, 3, 31).isoweekday() % 7

    def accepts(self, x: int) -> bool:
        return 1 <= x <= 10**9
