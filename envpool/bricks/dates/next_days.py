import random
from datetime import date, timedelta

from envpool import Environment


class NextDays(Environment):
    rule = (
        "The input holds days, written year-month-day and separated by spaces. Replace each by the day "
        "after it, written in the same way. Gregorian calendar: a year is a leap year if 4 divides it and "
        "100 does not, or if 400 does."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        start = date(rng.choice((1900, 1999, 2000, 2023)), rng.randint(1, 12), rng.randint(25, 28))
        return " ".join(
            str(start + timedelta(days=rng.randint(-5, 5 + 60 * level))) for _ in range(2 + level)
        )

    def solve(self, x: str) -> str:
        return " ".join(str(date.fromisoformat(day) + timedelta(days=1)) for day in x.split())

    def accepts(self, x: str) -> bool:
        try:
            days = [date.fromisoformat(day) for day in x.split(" ")]
        except ValueError:
            return False
        return len(days) <= 10 and x == " ".join(map(str, days)) and max(days).year < 9999
