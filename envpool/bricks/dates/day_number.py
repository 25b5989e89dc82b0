import calendar
import random
from datetime import date

from envpool import Environment


class DayNumber(Environment):
    rule = (
        "The input is a day (year, month, day) of the Gregorian calendar, taken back to year 1. Give how "
        "many days it comes after 1 January 2000; negative if before."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int]:
        year = rng.randint(1, 2) * 10 ** (2, 3, 3, 4, 5, 6)[min(level, 5)] + rng.randrange(100)
        if level < 2:
            return year, rng.randint(1, 9), rng.randint(1, 9)
        return year, rng.randint(1, 12), rng.randint(10, 28)

    def solve(self, x: tuple[int, int, int]) -> int:
        rounds, year = divmod(x[0] - 2000, 400)
        return (date(2000 + year, *x[1:]) - date(2000, 1, 1)).days + 146097 * rounds

    def accepts(self, x: tuple[int, int, int]) -> bool:
        year, month, day = x
        return (
            1 <= year <= 10**9
            and 1 <= month <= 12
            and 1 <= day <= calendar.monthrange(2000 + year % 400, month)[1]
        )
