import random

from envpool import Environment


class OddPart(Environment):
    rule = (
        "Divide the input by two again and again for as long as no remainder is left. Give a pair: the "
        "odd number reached and how often you divided."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return (2 * rng.randint(4**level, 5 * 4**level) + 1) * 2 ** rng.randint(0, 3 + level // 2)

    def solve(self, x: int) -> tuple[int, int]:
        if x == 0:
            raise ValueError("0 is never odd")
        times = 0
        while x % 2 == 0:
            x, times = x // 2, times + 1
        return x, times

    def accepts(self, x: int) -> bool:
        return 1 <= x <= 10**15
