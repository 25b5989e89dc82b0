import random
import re

from envpool import Environment

WORDS = """
    ant apple bell boat cake chair corn desk drum eagle farm fish gold green hat horse ink island jar key
    lake lemon moon nest night oak olive pear queen rain rope seal snow tent tiger train urn violin wolf
"""


class Auction(Environment):
    rule = (
        "The keys of the input bid their values. The highest bid wins; of equal ones the key that comes "
        "first in the alphabet, capital letters before small. Give the winner and its price: the highest "
        "value among the other keys, or 0 if there are no others."
    )

    def sample(self, rng: random.Random, level: int) -> dict[str, int]:
        names = rng.sample(WORDS.split(), 3 + level)
        return {name: rng.randint(1, 9 + 5 * level) for name in sorted(names)}

    def solve(self, x: dict[str, int]) -> tuple[str, int]:
        winner = min(x, key=lambda name: (-x[name], name))
        return winner, max((bid for name, bid in x.items() if name != winner), default=0)

    def accepts(self, x: dict[str, int]) -> bool:
        return 0 < len(x) <= 20 and all(re.fullmatch("[A-Za-z]+", name) for name in x)
