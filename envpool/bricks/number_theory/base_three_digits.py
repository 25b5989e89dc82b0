import random

from envpool import Environment


class BaseThreeDigits(Environment):
    rule = "Write the input in base three and list its digits, the one of highest value first. For 0 the list is [0]."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(6 * 4**level, 40 * 4**level)

    def solve(self, x: int) -> list[int]:
        digits = [x % 3]
        while x := x // 3:
            digits.insert(0, x % 3)
        return digits

    def accepts(self, x: int) -> bool:
        return 0 <= x <= 10**9
