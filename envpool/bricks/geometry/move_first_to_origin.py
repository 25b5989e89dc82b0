import random

from envpool import Environment


class MoveFirstToOrigin(Environment):
    rule = (
        "The input is a list of points (x, y). Subtract the x of the first point from the x of every "
        "point and the y of the first point from the y of every point, the first point included."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 9 + 10 * level
        return [(rng.randint(-top, top), rng.randint(1, top)) for _ in range(3 + level)]

    def solve(self, x: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return [(a - x[0][0], b - x[0][1]) for a, b in x]

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 0 < len(x) <= 30
