import itertools
import random

from envpool import Environment


class ShortenRuns(Environment):
    rule = (
        "Cut the input into runs of the same character, each as long as possible. Write each run as "
        "its length followed by its character, all together as one text: aab becomes 2a1b."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return "".join(rng.choice("abcdxy") * rng.randint(1, 4) for _ in range(2 + level))

    def solve(self, x: str) -> str:
        return "".join(f"{len(list(run))}{c}" for c, run in itertools.groupby(x))

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 35
