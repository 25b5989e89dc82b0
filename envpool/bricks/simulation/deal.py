import random

from envpool import Environment

WORDS = """
    ant apple bell boat cake chair corn desk drum eagle farm fish gold green hat horse ink island jar key
    lake lemon moon nest night oak olive pear queen rain rope seal snow tent tiger train urn violin wolf
"""


class Deal(Environment):
    rule = (
        "Deal the characters of the input's text, in order, to as many players as its number says: the "
        "first to the first player, the next to the next, and again from the first. List each player's "
        "characters as one text; who gets none has an empty text."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[str, int]:
        text = "".join(rng.choice(WORDS.split()) for _ in range(2 + level))
        return text, rng.randint(2, 3 + level // 2)

    def solve(self, x: tuple[str, int]) -> list[str]:
        return [x[0][player :: x[1]] for player in range(x[1])]

    def accepts(self, x: tuple[str, int]) -> bool:
        return 0 < x[1] <= 9 and len(x[0]) <= 60
