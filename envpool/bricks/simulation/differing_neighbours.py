import random

from envpool import Environment


class DifferingNeighbours(Environment):
    rule = (
        "Replace, all at once, every entry of the input list by whether exactly one of the two entries "
        "beside it is true. What is missing beyond the ends counts as false."
    )

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(5 + 2 * level)]

    def solve(self, x: list[bool]) -> list[bool]:
        road = [False, *x, False]
        return [a != b for a, b in zip(road, road[2:], strict=False)]

    def accepts(self, x: list[bool]) -> bool:
        return 0 < len(x) <= 20
