import random

from envpool import Environment


class ToNumber(Environment):
    rule = (
        "Read the input list as a number in base two: true is the digit 1 and false the digit 0, the "
        "most significant first. Give the number."
    )

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(4 + 2 * level)]

    def solve(self, x: list[bool]) -> int:
        return sum(2**i for i, flag in enumerate(reversed(x)) if flag)

    def accepts(self, x: list[bool]) -> bool:
        return 0 < len(x) <= 30
