import random

from envpool import Environment

WORDS = """
    ant apple bell boat cake chair corn desk drum eagle farm fish gold green hat horse ink island jar key
    lake lemon moon nest night oak olive pear queen rain rope seal snow tent tiger train urn violin wolf
"""


class TurnAtVowels(Environment):
    rule = (
        "Start at (0, 0), facing up; the first number counts to the right, the second upwards. For each "
        "character of the input: if it is a vowel aeiou, small or capital, turn left, else step ahead by "
        "one. Give where you end."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> tuple[int, int]:
        right, up, ahead = 0, 0, (0, 1)
        for character in x:
            if character in "aeiouAEIOU":
                ahead = -ahead[1], ahead[0]
            else:
                right, up = right + ahead[0], up + ahead[1]
        return right, up

    def accepts(self, x: str) -> bool:
        return len(x) <= 80
