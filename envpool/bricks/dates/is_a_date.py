import calendar
import random

from envpool import Environment


class IsADate(Environment):
    rule = (
        "Is the input, read as (year, month, day), a day of the Gregorian calendar, with the year at least 1?"
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int]:
        year = rng.randint(10 ** (level + 1), 3 * 10 ** (level + 1))
        month = rng.choice((2, 2, 4, 6, 9)) if level < 2 else rng.choice((2, 2, 11, 10, 12))
        last = calendar.monthrange(2000 + year % 400, month)[1]
        return (
            year,
            month + rng.choice((0, 0, 0, 12 if level < 2 else 1)),
            last + rng.choice((0, 0, -1, 1, 1)),
        )

    def solve(self, x: tuple[int, int, int]) -> bool:
        year, month, day = x
        return year > 0 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(2000 + year % 400, month)[1]
