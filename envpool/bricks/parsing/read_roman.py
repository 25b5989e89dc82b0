import random

from envpool import Environment

VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
ONES, TENS = "I II III IV V VI VII VIII IX", "X XX XXX XL L LX LXX LXXX XC"
SIGNS = (ONES, TENS, "C CC CCC CD D DC DCC DCCC CM", "M MM MMM")


class ReadRoman(Environment):
    rule = (
        "Read the input as a Roman number: I is 1, V 5, X 10, L 50, C 100, D 500 and M 1000. A sign "
        "that stands just before a larger one is subtracted; all others are added."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        digits = [rng.choice(SIGNS[place].split()) for place in range(min(level, 3), -1, -1)]
        lead = rng.choice(("", "X", "L")) if level == 0 else "M" * max(0, level - 3)
        return lead + "".join(digits)

    def solve(self, x: str) -> int:
        values = [VALUES[c] for c in x]
        pairs = zip(values, [*values[1:], 0], strict=True)
        return sum(-value if value < after else value for value, after in pairs)

    def accepts(self, x: str) -> bool:
        return 0 < len(x) <= 20 and all(c in VALUES for c in x)
