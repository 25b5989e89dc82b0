import random

from envpool import Environment

WORDS = """
    an bad base bee bell car care dance dry easy end flat fox gas gate goat hat help hour it
    land lava left long me oak park pay pig rich roof run salad sheep ship slow so soft tree van
    war week wing year
"""


class OutsideIn(Environment):
    rule = (
        "Write the characters of the input in this order: the first, the last, the second, the last "
        "but one, and so on until every character is used once."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return "".join(x[i // 2] if i % 2 == 0 else x[-1 - i // 2] for i in range(len(x)))

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 60
