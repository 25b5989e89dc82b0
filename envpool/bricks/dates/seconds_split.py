import random

from envpool import Environment


class SecondsSplit(Environment):
    rule = (
        "The input is a number of seconds. Give it as (hours, minutes, seconds), with minutes and seconds "
        "below 60; the hours may be any number."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (level + 2), 10 ** (level + 3) - 1)

    def solve(self, x: int) -> tuple[int, int, int]:
        return x // 3600, x // 60 % 60, x % 60

    def accepts(self, x: int) -> bool:
        return x >= 0
