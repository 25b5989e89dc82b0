import random
from datetime import date, timedelta

from envpool import Environment


class DatesOfNumbers(Environment):
    rule = (
        "For each number of the input list, write the day that many days after 2000-01-01, before it if "
        "negative, as year-month-day in 4, 2 and 2 digits, with one space between days. Use the Gregorian "
        "calendar, taken back to year 1."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 40 * 3**level) for _ in range(2 + level)]

    def solve(self, x: list[int]) -> str:
        return " ".join(str(date(2000, 1, 1) + timedelta(days=number)) for number in x)

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 7 and min(x) >= -700_000 and max(x) <= 2_900_000
