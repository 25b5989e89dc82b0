import math
import random

from envpool import Environment


class GridPointsOnSegment(Environment):
    rule = (
        "The input holds two points. Count the points with whole coordinates on the straight line between "
        "them, both ends included; if the two are the same point, that is 1."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[tuple[int, int], tuple[int, int]]:
        top = 3 * 4**level
        across, up, times = rng.randint(-top, top), rng.randint(1, top), rng.randint(1, 5 + level)
        start = rng.randint(-top, top), rng.randint(-top, top)
        return start, (start[0] + times * across, start[1] + times * up)

    def solve(self, x: tuple[tuple[int, int], tuple[int, int]]) -> int:
        return math.gcd(x[1][0] - x[0][0], x[1][1] - x[0][1]) + 1
