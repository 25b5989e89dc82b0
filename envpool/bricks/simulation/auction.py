import random
import re

from envpool import Environment

WORDS = """
    ant apple bell boat cake chair corn desk drum eagle farm fish gold green hat horse ink island jar key
    lake lemon moon nest night oak olive pear queen rain rope seal snow tent tiger train urn violin wolf
"""


class Auction(Environment):
    rule = (
        "The values of the input are bids. The highest wins; of equal ones that of the key first in the "
        "alphabet, capital letters before small. Give the winning key and the highest bid of the other "
        "keys, 0 if there are none."
    )

    def sample(self, rng: random.Random, level: int) -> dict[str, int]:
        names = rng.sample(WORDS.split(), 3 + level)
        return {name: rng.randint(1, 9 + 5 * level) for name in sorted(names)}

    def solve(self, x: dict[str, int]) -> tuple[str, int]:
        winner = min(x, key=lambda name: (-x[name], name))
        return winner, max((bid for name, bid in x.items() if name != winner), default=0)

    def accepts(self, x: dict[str, int]) -> bool:
        return 0 < len(x) <= 20 and all(re.fullmatch("[A-Za-z]+", name) for name in x)
