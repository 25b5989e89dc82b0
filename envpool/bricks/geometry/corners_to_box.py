import random

from envpool import Environment


class CornersToBox(Environment):
    rule = (
        "The input holds two points (x, y). Give four numbers: the smaller x, the smaller y, the larger "
        "x, the larger y."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[tuple[int, int], tuple[int, int]]:
        top = 9 * 5**level
        return (rng.randint(-top, top), rng.randint(-top, top)), (
            rng.randint(-top, top),
            rng.randint(-top, top),
        )

    def solve(self, x: tuple[tuple[int, int], tuple[int, int]]) -> tuple[int, int, int, int]:
        (a, b), (c, d) = x
        return min(a, c), min(b, d), max(a, c), max(b, d)
