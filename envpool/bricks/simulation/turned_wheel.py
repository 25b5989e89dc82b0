import random

from envpool import Environment

WORDS = """
    ant apple bell boat cake chair corn desk drum eagle farm fish gold green hat horse ink island jar key
    lake lemon moon nest night oak olive pear queen rain rope seal snow tent tiger train urn violin wolf
"""


class TurnedWheel(Environment):
    rule = (
        "Move the first character of the input's text to its end, as many times as its number says; if the "
        "number is negative, move the last character to the front that many times instead."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[str, int]:
        text = "-".join(rng.choice(WORDS.split()) for _ in range(1 + level))
        return text, rng.choice((1, 1, -1)) * rng.randint(1, 5 + 5 * level)

    def solve(self, x: tuple[str, int]) -> str:
        places = x[1] % max(1, len(x[0]))
        return x[0][places:] + x[0][:places]

    def accepts(self, x: tuple[str, int]) -> bool:
        return 0 < len(x[0]) <= 70
