import random

from envpool import Environment

WORDS = """
    book bus cap cook corn day dog drop dry egg end fox full fun gold good home hope hot idea key
    kind lion log meal net news nice open page path pet plan pond rain rock rope sad size sky snow
    tent west wine wolf wood work year
"""


class Initials(Environment):
    rule = "Write the first characters of the entries of the input list as one text."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(3 + level)]

    def solve(self, x: list[str]) -> str:
        return "".join(text[:1] for text in x)

    def accepts(self, x: list[str]) -> bool:
        return len(x) > 0
