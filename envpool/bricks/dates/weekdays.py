import random
from datetime import date, timedelta

from envpool import Environment

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"


class Weekdays(Environment):
    rule = (
        "The input holds days, written year-month-day in 4, 2 and 2 digits, with spaces between. List their "
        "English weekday names. Use the Gregorian calendar, taken back to year 1; 2000-01-01 was a Saturday."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        start = date(rng.choice((1900, 1999, 2000, 2023)), rng.randint(1, 12), rng.randint(25, 28))
        return " ".join(
            str(start + timedelta(days=rng.randint(-5, 5 + 60 * level))) for _ in range(2 + level)
        )

    def solve(self, x: str) -> list[str]:
        return [DAYS.split()[date.fromisoformat(day).weekday()] for day in x.split()]

    def accepts(self, x: str) -> bool:
        try:
            days = [date.fromisoformat(day) for day in x.split(" ")]
        except ValueError:
            return False
        return len(days) <= 10 and x == " ".join(map(str, days)) and max(days).year < 9999
