import calendar
import random

from envpool import Environment


class MonthLength(Environment):
    rule = "How many days has the month of the input, a day (year, month, day) of the Gregorian calendar?"

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int]:
        year = rng.randint(10 ** (level + 1), 3 * 10 ** (level + 1))
        months = (2, 2, 2, 2, 4, 6, 7, 8, 9) if level < 2 else (2, 2, 2, 2, 10, 11, 12, 4, 5)
        return year, rng.choice(months), rng.randint(*((1, 9) if level < 1 else (10, 28)))

    def solve(self, x: tuple[int, int, int]) -> int:
        return calendar.monthrange(2000 + x[0] % 400, x[1])[1]

    def accepts(self, x: tuple[int, int, int]) -> bool:
        year, month, day = x
        return (
            1 <= year <= 10**9
            and 1 <= month <= 12
            and 1 <= day <= calendar.monthrange(2000 + year % 400, month)[1]
        )
