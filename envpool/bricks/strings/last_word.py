import random

from envpool import Environment

WORDS = """
    add ant ball base bee big bus cake coat cold cool copy deep desk drop east end fact fire fish
    fox free gate girl goat gray hair hand head home hope horn ice idea joke key kid kite late leaf
    life lime love luck mail mark meat neck net open page pay pet plan pot road sit snow star stop
    talk tall tea top toy walk wave wind wine wolf work zoo
"""


class LastWord(Environment):
    rule = "Words are separated by white space. Give the last word of the input."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(2 + level))

    def solve(self, x: str) -> str:
        return x.split()[-1]

    def accepts(self, x: str) -> bool:
        return len(x.split()) > 1
