import random

from envpool import Environment

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"


class WeekdayLater(Environment):
    rule = (
        "The input is an English weekday name and a number of days. Give the name of the weekday that many "
        "days later, or earlier if the number is negative."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[str, int]:
        return rng.choice(DAYS.split()), rng.randint(10**level, 10 ** (level + 1) - 1)

    def solve(self, x: tuple[str, int]) -> str:
        days = DAYS.split()
        return days[(days.index(x[0]) + x[1]) % 7]

    def accepts(self, x: tuple[str, int]) -> bool:
        return x[0] in DAYS.split()
