import random

from envpool import Environment

WORDS = """
    add art bag bed bike call cup date deep fish flat food gold gray hard hen home ice iron kite
    lady lamp leaf log meat net news nice note pen rice rope safe size sun true walk wave week yes
"""


class CountWords(Environment):
    rule = "Words are separated by white space. Count the words of the input."

    def sample(self, rng: random.Random, level: int) -> str:
        count = rng.randint(1 + level, 4 + 3 * level)
        return " ".join(rng.choice(WORDS.split()) for _ in range(count))

    def solve(self, x: str) -> int:
        return len(x.split())
