import random

from envpool import Environment


class TaxiDistance(Environment):
    rule = (
        "The input is a point (x, y). Give how many steps of length 1 along the axes lead from (0, 0) to "
        "it: its x plus its y, both without sign."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        top = 9 * 5**level
        return rng.randint(-top, top), rng.randint(-top, top)

    def solve(self, x: tuple[int, int]) -> int:
        return abs(x[0]) + abs(x[1])
