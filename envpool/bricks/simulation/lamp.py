import itertools
import random

from envpool import Environment

WORDS = """
    ant apple bell boat cake chair corn desk drum eagle farm fish gold green hat horse ink island jar key
    lake lemon moon nest night oak olive pear queen rain rope seal snow tent tiger train urn violin wolf
"""


class Lamp(Environment):
    rule = (
        "A lamp is off. Each entry of the input, in order, with an odd number of characters switches it, on "
        "or off. List for each entry whether the lamp is on after it."
    )

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(3 + level)]

    def solve(self, x: list[str]) -> list[bool]:
        lengths = itertools.accumulate(len(entry) for entry in x)
        return [length % 2 == 1 for length in lengths]

    def accepts(self, x: list[str]) -> bool:
        return 0 < len(x) <= 12
