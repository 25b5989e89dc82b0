import random

from envpool import Environment


class ClockText(Environment):
    rule = (
        "The input counts minutes after midnight, before it if negative. Write what a 24-hour clock then "
        "shows, as two digits of hours, a colon and two digits of minutes."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (level + 1), 10 ** (level + 2)) * rng.choice((1, 1, 1, -1))

    def solve(self, x: int) -> str:
        return f"{x // 60 % 24:02}:{x % 60:02}"
