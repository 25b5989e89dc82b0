import random

from envpool import Environment


class DigitCounts(Environment):
    rule = "For each different digit of the input, give how often it occurs. A minus sign is no digit."

    def sample(self, rng: random.Random, level: int) -> int:
        digits = rng.sample("123456789", 3)
        return int("".join(rng.choice(digits) for _ in range(3 + 2 * level)))

    def solve(self, x: int) -> dict[int, int]:
        text = str(abs(x))
        return {int(digit): text.count(digit) for digit in sorted(text)}

    def accepts(self, x: int) -> bool:
        return abs(x) < 10**18
