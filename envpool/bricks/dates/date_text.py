import calendar
import random

from envpool import Environment


class DateText(Environment):
    rule = (
        "The input is a day (year, month, day). Write year-month-day as text, with zeros in front up to "
        "four digits for the year and two for the month and the day."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int]:
        year = rng.randint(1, 2) * 10 ** (2, 3, 3, 4, 5, 6)[min(level, 5)] + rng.randrange(100)
        if level < 2:
            return year, rng.randint(1, 9), rng.randint(1, 9)
        return year, rng.randint(1, 12), rng.randint(10, 28)

    def solve(self, x: tuple[int, int, int]) -> str:
        return f"{x[0]:04}-{x[1]:02}-{x[2]:02}"

    def accepts(self, x: tuple[int, int, int]) -> bool:
        year, month, day = x
        return (
            1 <= year <= 10**9
            and 1 <= month <= 12
            and 1 <= day <= calendar.monthrange(2000 + year % 400, month)[1]
        )
