import random

from envpool import Environment


class BoundingBox(Environment):
    rule = (
        "The input is a list of points (x, y). Give four numbers: the smallest x, the smallest y, the "
        "largest x, the largest y."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 9 + 10 * level
        return [(rng.randint(-top, top), rng.randint(-top, top)) for _ in range(3 + level)]

    def solve(self, x: list[tuple[int, int]]) -> tuple[int, int, int, int]:
        columns, rows = [point[0] for point in x], [point[1] for point in x]
        return min(columns), min(rows), max(columns), max(rows)

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 0 < len(x) <= 30
