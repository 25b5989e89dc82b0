import random

from envpool import Environment

WORDS = """
    ant apple bell boat cake chair corn desk drum eagle farm fish gold green hat horse ink island jar key
    lake lemon moon nest night oak olive pear queen rain rope seal snow tent tiger train urn violin wolf
"""


class Deal(Environment):
    rule = (
        "Deal the characters of the input's text to as many players as its number says, one to each in "
        "turn, from the first again after the last. List each player's characters as a text, which may be "
        "empty."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[str, int]:
        text = "".join(rng.choice(WORDS.split()) for _ in range(2 + level))
        return text, rng.randint(2, 3 + level // 2)

    def solve(self, x: tuple[str, int]) -> list[str]:
        return [x[0][player :: x[1]] for player in range(x[1])]

    def accepts(self, x: tuple[str, int]) -> bool:
        return 0 < x[1] <= 9 and len(x[0]) <= 60
