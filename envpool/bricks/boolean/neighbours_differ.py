import itertools
import random

from envpool import Environment


class NeighboursDiffer(Environment):
    rule = "For every entry of the input list but the last, say whether it differs from the next entry."

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(5 + 2 * level)]

    def solve(self, x: list[bool]) -> list[bool]:
        return [a != b for a, b in itertools.pairwise(x)]

    def accepts(self, x: list[bool]) -> bool:
        return 1 < len(x) <= 30
