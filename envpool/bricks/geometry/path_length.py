import itertools
import random

from envpool import Environment


class PathLength(Environment):
    rule = (
        "Visit the points (x, y) of the input list in order. From each point to the next the way is the "
        "difference in x plus the difference in y, both without sign. Give the length of the whole way; "
        "for one point it is 0."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 9 + 10 * level
        return [(rng.randint(-top, top), rng.randint(-top, top)) for _ in range(3 + level)]

    def solve(self, x: list[tuple[int, int]]) -> int:
        return sum(abs(a - c) + abs(b - d) for (a, b), (c, d) in itertools.pairwise(x))

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 0 < len(x) <= 30
