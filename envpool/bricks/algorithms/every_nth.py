import random

from envpool import Environment

WORDS = """
    atlas bank body book camp cat copy eagle fast flag full gala gold help hill iron juice key
    leaf lime map me money open panda pasta pizza plan pot queen rich shop snow tail time tin to
    truck try up we week world yes
"""


class EveryNth(Environment):
    rule = (
        "The input is a text and a number. Write every character of the text whose index is divisible "
        "by the number; the first character has index 0."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[str, int]:
        text = "".join(rng.choice(WORDS.split()) for _ in range(2 + level))
        return text, rng.randint(2, 4)

    def solve(self, x: tuple[str, int]) -> str:
        text, number = x
        return text[:: abs(number)]

    def accepts(self, x: tuple[str, int]) -> bool:
        return 0 < len(x[0]) <= 60 and x[1] != 0
