import random
from datetime import date

from envpool import Environment


class LastSundayOfMarch(Environment):
    rule = (
        "Give as (year, month, day) the last Sunday of March in the year of the input. Use the Gregorian "
        "calendar, taken back to year 1; 1 January 2000 was a Saturday."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (level + 2), 3 * 10 ** (level + 2))

    def solve(self, x: int) -> tuple[int, int, int]:
        return x, 3, 31 - date(2000 + x % 400, 3, 31).isoweekday() % 7

    def accepts(self, x: int) -> bool:
        return 1 <= x <= 10**9
