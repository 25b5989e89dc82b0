import random

from envpool import Environment


class CornerPath(Environment):
    rule = (
        "Walk from the first point (x, y) of the input to the second in steps of length 1: first only "
        "changing x, until it is right, then only changing y. List all points on the way, both ends "
        "included; if both are the same point, list it once."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[tuple[int, int], tuple[int, int]]:
        top = 9 * 4**level
        start = rng.randint(-top, top), rng.randint(-top, top)
        across, up = rng.randint(-2 - level, 2 + level), rng.choice((-1, 1)) * rng.randint(1, 2 + level)
        return start, (start[0] + across, start[1] + up)

    def solve(self, x: tuple[tuple[int, int], tuple[int, int]]) -> list[tuple[int, int]]:
        (a, b), (c, d) = x
        right, up = 1 if c > a else -1, 1 if d > b else -1
        return [*((n, b) for n in range(a, c, right)), *((c, n) for n in range(b, d, up)), (c, d)]

    def accepts(self, x: tuple[tuple[int, int], tuple[int, int]]) -> bool:
        return abs(x[0][0] - x[1][0]) + abs(x[0][1] - x[1][1]) <= 20
