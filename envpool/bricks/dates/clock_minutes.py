import random
import re

from envpool import Environment


class ClockMinutes(Environment):
    rule = (
        "The input holds times of a 24-hour clock, written hours:minutes and separated by spaces. List how "
        "many minutes after midnight each is, in order."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}" for _ in range(2 + level))

    def solve(self, x: str) -> list[int]:
        return [60 * int(time[:2]) + int(time[3:]) for time in x.split()]

    def accepts(self, x: str) -> bool:
        return len(x) <= 100 and all(
            re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", time) for time in x.split(" ")
        )
