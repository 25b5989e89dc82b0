import random

from envpool import Environment

WORDS = """
    act ant bed boat bus cat coat cow door ear east easy fall fly free game gate iron jam job king
    kite lady land leaf long map nice nut oil pie pig pond ride rock rope sad soup stop tail tall
    tea ten tent time toe van wave
"""


class UpperItems(Environment):
    rule = "Write every entry of the input list in upper-case letters."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(2 + level)]

    def solve(self, x: list[str]) -> list[str]:
        return [text.upper() for text in x]

    def accepts(self, x: list[str]) -> bool:
        return len(x) > 0
