import random

from envpool import Environment

WORDS = """
    am as bag bed bus call cat cry data day dish egg fall fast full gate gift girl gym heat hot
    lamp mail open pizza plaza rich sad seat sheep ship snake sofa soup tent tiger toe toy try
    warm wash wolf work zebra
"""


class BracketPairs(Environment):
    rule = (
        "The round brackets of the input match. For each opening one, in order, give a pair: its "
        "index and the index of its closing one. Every character counts, and the first has index 0."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        text = rng.choice(WORDS.split())
        for _ in range(1 + level):
            text = rng.choice(["(" + text + ")", text + "()", "()" + text])
        return text

    def solve(self, x: str) -> list[tuple[int, int]]:
        found, opened = [], []
        for i, c in enumerate(x):
            if c == "(":
                opened.append(i)
            elif c == ")":
                found.append((opened.pop(), i))
        return sorted(found)

    def accepts(self, x: str) -> bool:
        heights = [x[:i].count("(") - x[:i].count(")") for i in range(len(x) + 1)]
        return "(" in x and len(x) <= 60 and x.count("(") <= 8 and min(heights) == heights[-1] == 0
