import random

from envpool import Environment


class AddPoints(Environment):
    rule = "The input is a list of points (x, y). Give a pair: the sum of all x, the sum of all y."

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 9 + 10 * level
        return [(rng.randint(-top, top), rng.randint(-top, top)) for _ in range(3 + level)]

    def solve(self, x: list[tuple[int, int]]) -> tuple[int, int]:
        return sum(point[0] for point in x), sum(point[1] for point in x)

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 0 < len(x) <= 30
