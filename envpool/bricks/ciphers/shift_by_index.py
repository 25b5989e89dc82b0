import random

from envpool import Environment

WORDS = """
    an apple arena at bird bread bus cake clay dance down duck egg farm gate grass gray hand
    home idea iota iron is jump leaf map me mind ocean olive onion paper pen pet ring salad
    smile snow talk toe tower warm way zebra
"""


class ShiftByIndex(Environment):
    rule = (
        "Move every small letter of the input forward in the alphabet by its index in the input, "
        "where the first character has index 0 and every character counts. After z comes a. Other "
        "characters stay."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        moved = [chr((ord(c) - 97 + i) % 26 + 97) if "a" <= c <= "z" else c for i, c in enumerate(x)]
        return "".join(moved)

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 60
