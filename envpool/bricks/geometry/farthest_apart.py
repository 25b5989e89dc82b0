import itertools
import random

from envpool import Environment


class FarthestApart(Environment):
    rule = (
        "The distance of two points is the difference of their x plus that of their y, both without sign. "
        "Give the two entries of the input list with the largest distance, in list order. Of several such "
        "twos take the one whose first entry stands earliest, then the one whose second does."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 9 + 10 * level
        return [(rng.randint(-top, top), rng.randint(-top, top)) for _ in range(3 + level)]

    def solve(self, x: list[tuple[int, int]]) -> tuple[tuple[int, int], tuple[int, int]]:
        twos = list(itertools.combinations(x, 2))
        return max(twos, key=lambda two: abs(two[0][0] - two[1][0]) + abs(two[0][1] - two[1][1]))

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 2 <= len(x) <= 20
