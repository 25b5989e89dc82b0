import itertools
import random

from envpool import Environment


class RunLengths(Environment):
    rule = (
        "Cut the input into runs of the same character, each as long as possible. List a pair for "
        "each run in order: its character and its length."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return "".join(rng.choice("abcd") * rng.randint(1, 4) for _ in range(2 + level))

    def solve(self, x: str) -> list[tuple[str, int]]:
        return [(c, len(list(run))) for c, run in itertools.groupby(x)]

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 40 and sum(a != b for a, b in itertools.pairwise(x)) < 8
