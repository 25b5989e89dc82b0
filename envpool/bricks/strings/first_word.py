import random

from envpool import Environment

WORDS = """
    act ask bad big bike bird bone boy car cat city coat cool cup dust fall fish flag food frog gate
    hall ham hand hard heat help home hot hour ice job key kind kite lady lamp left lime list map
    mark meat milk mind net nose note oil pay race rain rice ring run sand sea seat sit sky soft
    star ten time true wall war warm wave west wet wood
"""


class FirstWord(Environment):
    rule = "Words are separated by white space. Give the first word of the input."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(2 + level))

    def solve(self, x: str) -> str:
        return x.split()[0]

    def accepts(self, x: str) -> bool:
        return len(x.split()) > 1
