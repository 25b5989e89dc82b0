import random

from envpool import Environment

WORDS = """
    act bag bat boat body boy call camp cat city cow deep dog fox goat good ham head jam joke key
    kid lion log mail meat moon neck nest nose oak page play rest rich safe salt seat ship sock soft
    stop tail view way word yard year
"""


class LastItem(Environment):
    rule = "Give the last entry of the input list."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(3 + level)]

    def solve(self, x: list[str]) -> str:
        return x[-1]

    def accepts(self, x: list[str]) -> bool:
        return len(x) > 0
