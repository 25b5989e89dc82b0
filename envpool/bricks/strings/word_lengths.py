import random

from envpool import Environment

WORDS = """
    air an as bag ball base bike body bread by chair cloud do earth egg fact flat free frog fruit
    fun glass grass hall he heart home horse house if is it joke king lamp leg lemon list log man
    money neck no ocean of or rest rich ride road run salad sheep snake snow sock soft spoon stone
    storm sugar sun swim table toast train up van view wall water wheel
"""


class WordLengths(Environment):
    rule = "Words are separated by white space. List the length of each word of the input."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(2 + level))

    def solve(self, x: str) -> list[int]:
        return [len(word) for word in x.split()]
