import itertools
import random

from envpool import Environment


class NeighbourPairs(Environment):
    rule = "List each number of the input list together with the next one, as pairs."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> list[tuple[int, int]]:
        return list(itertools.pairwise(x))

    def accepts(self, x: list[int]) -> bool:
        return 2 <= len(x) <= 30
