import random

from envpool import Environment

WORDS = """
    ant apple bell boat cake chair corn desk drum eagle farm fish gold green hat horse ink island jar key
    lake lemon moon nest night oak olive pear queen rain rope seal snow tent tiger train urn violin wolf
"""


class RecentThree(Environment):
    rule = (
        "A shelf is empty. For each entry of the input in order: remove an equal one from the shelf, if "
        "any, and put the entry at the front; of four the last falls off. List the shelf at the end, front "
        "first."
    )

    def sample(self, rng: random.Random, level: int) -> list[str]:
        names = rng.sample(WORDS.split(), 4)
        return [rng.choice(names) for _ in range(4 + level)]

    def solve(self, x: list[str]) -> list[str]:
        shelf: list[str] = []
        for entry in x:
            shelf = [entry, *(other for other in shelf if other != entry)][:3]
        return shelf

    def accepts(self, x: list[str]) -> bool:
        return 0 < len(x) <= 30
