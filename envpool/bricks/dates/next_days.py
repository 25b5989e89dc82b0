import random
from datetime import date, timedelta

from envpool import Environment


class NextDays(Environment):
    rule = (
        "The input holds days, written year-month-day in 4, 2 and 2 digits, with spaces between. Replace each "
        "by the day after it, written alike. Use the Gregorian calendar, taken back to year 1."
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
