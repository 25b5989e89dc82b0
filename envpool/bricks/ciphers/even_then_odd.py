import random

from envpool import Environment

WORDS = """
    act an area bird boat body bus camp canal do eagle end fall fast fly green gym horse hour
    ice iron it land left life milk nice no pea pig pot radar ring road shoe so sock tall time
    union warm wet whale wood
"""


class EvenThenOdd(Environment):
    rule = (
        "Write the characters of the input whose index is even, in order, and after them those whose "
        "index is odd. The first character has index 0."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return x[::2] + x[1::2]

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 60
