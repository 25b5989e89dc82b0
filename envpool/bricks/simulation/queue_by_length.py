import random

from envpool import Environment

WORDS = """
    ant apple bell boat cake chair corn desk drum eagle farm fish gold green hat horse ink island jar key
    lake lemon moon nest night oak olive pear queen rain rope seal snow tent tiger train urn violin wolf
"""


class QueueByLength(Environment):
    rule = (
        "The entries of the input join the back of an empty row, one after another. Whenever one with an "
        "even number of characters has joined, the front one (maybe itself) leaves. List the row at the end, "
        "front first."
    )

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(4 + level)]

    def solve(self, x: list[str]) -> list[str]:
        row: list[str] = []
        for entry in x:
            row.append(entry)
            if len(entry) % 2 == 0:
                row.pop(0)
        return row

    def accepts(self, x: list[str]) -> bool:
        return len(x) <= 30
