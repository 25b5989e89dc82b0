import random

from envpool import Environment

WORDS = """
    ant apple bell boat cake chair corn desk drum eagle farm fish gold green hat horse ink island jar key
    lake lemon moon nest night oak olive pear queen rain rope seal snow tent tiger train urn violin wolf
"""


class HolderAndCount(Environment):
    rule = (
        "A counter is 0. For each entry of the input in order: if the counter is 0, the entry becomes "
        "holder and the counter 1; else the counter rises by one if the entry equals the holder, and falls "
        "by one if not. Give holder and counter."
    )

    def sample(self, rng: random.Random, level: int) -> list[str]:
        names = rng.sample(WORDS.split(), 3)
        return [rng.choice([*names, names[0], names[0]]) for _ in range(3 + level)]

    def solve(self, x: list[str]) -> tuple[str, int]:
        holder, counter = "", 0
        for entry in x:
            if counter == 0:
                holder = entry
            counter += 1 if entry == holder else -1
        return holder, counter

    def accepts(self, x: list[str]) -> bool:
        return 0 < len(x) <= 30
