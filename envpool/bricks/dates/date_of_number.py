import random
from datetime import date, timedelta

from envpool import Environment


class DateOfNumber(Environment):
    rule = (
        "Give as (year, month, day) the day that comes the input's number of days after 1 January 2000, or "
        "before it if negative, in the Gregorian calendar, taken back to year 1."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        days = rng.randint(10 ** (level + 1), 10 ** (level + 2) - 1)
        return -days if days < 700_000 and rng.random() < 0.25 else days

    def solve(self, x: int) -> tuple[int, int, int]:
        rounds, days = divmod(x, 146097)
        day = date(2000, 1, 1) + timedelta(days=days)
        return day.year + 400 * rounds, day.month, day.day

    def accepts(self, x: int) -> bool:
        return -700_000 <= x <= 10**9
