import random
from datetime import date

from envpool import Environment


class FridayThirteenths(Environment):
    rule = (
        "List the numbers of the months (January is 1) whose 13th day is a Friday in the year of the input. "
        "Use the Gregorian calendar, taken back to year 1; 1 January 2000 was a Saturday."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (level + 2), 3 * 10 ** (level + 2))

    def solve(self, x: int) -> list[int]:
        return [month for month in range(1, 13) if date(2000 + x % 400, month, 13).weekday() == 4]

    def accepts(self, x: int) -> bool:
        return 1 <= x <= 10**12
