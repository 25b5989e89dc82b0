import calendar
import random

from envpool import Environment


class MonthLater(Environment):
    rule = (
        "The input is a day (year, month, day) of the Gregorian calendar. Give the same day of the next "
        "month, or that month's last day if it has no such day."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int]:
        year = rng.randint(10 ** (level + 1), 3 * 10 ** (level + 1))
        month = rng.randint(1, 9 if level < 2 else 12)
        last = calendar.monthrange(2000 + year % 400, month)[1]
        return year, month, rng.randint(1, 9) if level < 1 else rng.choice((rng.randint(10, 28), last, last))

    def solve(self, x: tuple[int, int, int]) -> tuple[int, int, int]:
        year, month = (x[0], x[1] + 1) if x[1] < 12 else (x[0] + 1, 1)
        return year, month, min(x[2], calendar.monthrange(2000 + year % 400, month)[1])

    def accepts(self, x: tuple[int, int, int]) -> bool:
        year, month, day = x
        return (
            1 <= year <= 10**9
            and 1 <= month <= 12
            and 1 <= day <= calendar.monthrange(2000 + year % 400, month)[1]
        )
