import random

from envpool import Environment


class BaseThreeDigits(Environment):
    rule = (
        "The input is not negative. Write it in base three and list its digits, the one of highest value "
        "first. For 0 the list is [0]."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(6 * 4**level, 40 * 4**level)

    def solve(self, x: int) -> list[int]:
        if x < 0:
            raise ValueError("below 0")
        digits = [x % 3]
        while x := x // 3:
            digits.insert(0, x % 3)
        return digits

    def accepts(self, x: int) -> bool:
        return 0 <= x <= 10**9
