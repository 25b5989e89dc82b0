import random

from envpool import Environment

WORDS = """
    bank bone canal card clay cool day earth fire fun gala gate grass gray hair ham hard hat
    heart help if jump kid lake man month onion panda pen plan play radio rich ride roof sit
    swim toast union wash we wine word work
"""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class MirrorAlphabet(Environment):
    rule = (
        "Replace every letter of the input by its mirror in the alphabet: a becomes z, b becomes y, "
        "and so on to z, which becomes a. Capitals stay capitals, and all other characters stay."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        small = LETTERS[::-1]
        return x.translate(str.maketrans(LETTERS + LETTERS.upper(), small + small.upper()))

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 60
