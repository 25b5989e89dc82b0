import calendar
import random
from datetime import date, timedelta

from envpool import Environment


class NextDay(Environment):
    rule = "Give the day after the input, as (year, month, day) in the Gregorian calendar like the input."

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int]:
        year = rng.randint(10 ** (level + 1), 3 * 10 ** (level + 1))
        month = rng.randint(1, 9 if level < 2 else 12)
        last = calendar.monthrange(2000 + year % 400, month)[1]
        return year, month, rng.randint(1, 9) if level < 1 else rng.choice((rng.randint(10, 28), last, last))

    def solve(self, x: tuple[int, int, int]) -> tuple[int, int, int]:
        day = date(2000 + x[0] % 400, *x[1:]) + timedelta(days=1)
        return x[0] + (day.month < x[1]), day.month, day.day

    def accepts(self, x: tuple[int, int, int]) -> bool:
        year, month, day = x
        return (
            1 <= year <= 10**9
            and 1 <= month <= 12
            and 1 <= day <= calendar.monthrange(2000 + year % 400, month)[1]
        )
