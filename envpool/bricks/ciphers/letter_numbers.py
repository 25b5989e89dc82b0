import random

from envpool import Environment

WORDS = """
    alien area big boat box boy cat cold date easy fact fat full gold hall ham hand head idea
    image iron lake lamp land life mad moon movie owl piano pizza rest rich salt shoe sky song
    spy stone tiger top truck tuba zoo
"""


class LetterNumbers(Environment):
    rule = (
        "List the place in the alphabet of every small letter of the input, in order; a is 1 and z is "
        "26. Leave out all other characters."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> list[int]:
        return [ord(c) - 96 for c in x if "a" <= c <= "z"]

    def accepts(self, x: str) -> bool:
        return len(x) <= 60 and any("a" <= c <= "z" for c in x)
