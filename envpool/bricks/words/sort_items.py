import random

from envpool import Environment

WORDS = """
    apple as bath be cap cat chair dance date do eye fact flag fruit glass go gold grass hen horse
    in lemon milk money month night no or party piano pink ring river road shirt size slow snake
    soup star stone toast truck war water we wheel year
"""


class SortItems(Environment):
    rule = "Sort the entries of the input list from shortest to longest; equally long ones keep their order."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(4 + level)]

    def solve(self, x: list[str]) -> list[str]:
        return sorted(x, key=len)

    def accepts(self, x: list[str]) -> bool:
        return len(x) > 0
