import random

from envpool import Environment

WORDS = """
    age area ask call canal car cry deep ear earth eye fire fish frog fruit girl hope job king
    land lime lost luck mad month olive pie pig plan plant rest roof run shoe stone team toast
    toe toy tree whale wind yard year
"""


class SplitAtSpace(Environment):
    rule = (
        "Give two texts: what stands before the first space of the input and what stands after it. "
        "Without a space, the second text is empty."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(2 + level))

    def solve(self, x: str) -> tuple[str, str]:
        before, _, after = x.partition(" ")
        return before, after

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 60
