import random

from envpool import Environment

WORDS = """
    am apple as by cake camp chair cloud dance dish drop face field fruit glass go gold green hat
    heart hope is joke juice kid life lion love me my neck no party phone plant sheep skin smile so
    sugar table tail tiger train truck we wet wheel
"""


class Lengths(Environment):
    rule = "List the length of each entry of the input list, in order."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(3 + level)]

    def solve(self, x: list[str]) -> list[int]:
        return [len(text) for text in x]

    def accepts(self, x: list[str]) -> bool:
        return len(x) > 0
