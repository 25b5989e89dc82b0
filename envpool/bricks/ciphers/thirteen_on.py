import random

from envpool import Environment

WORDS = """
    be bee bell bus cap coat code data dust easy end fly fur goat ice is lamp line list me meal
    milk my news nice nut onion paper pasta piano pie pink poem race safe sit snow star stop
    storm sun to warm wash
"""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


class ThirteenOn(Environment):
    rule = (
        "Replace every letter of the input by the one thirteen places on in the alphabet; after z "
        "comes a again. Capitals stay capitals, and all other characters stay."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        small = LETTERS[13:] + LETTERS[:13]
        return x.translate(str.maketrans(LETTERS + LETTERS.upper(), small + small.upper()))

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 60
