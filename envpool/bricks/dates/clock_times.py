import random

from envpool import Environment


class ClockTimes(Environment):
    rule = (
        "Each number of the input list counts minutes after midnight, before it if negative. Write what a "
        "24-hour clock then shows, as two digits of hours, a colon and two of minutes; one space between "
        "times."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 200 * 3**level) for _ in range(2 + level)]

    def solve(self, x: list[int]) -> str:
        return " ".join(f"{number // 60 % 24:02}:{number % 60:02}" for number in x)

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 12
