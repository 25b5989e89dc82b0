import random

from envpool import Environment


class Degrees(Environment):
    rule = (
        "Each pair of the input is an edge. For every number in the pairs, give how often it occurs in "
        "them; a pair of two equal numbers counts twice."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 4 + level
        return [(rng.randint(1, top), rng.randint(1, top)) for _ in range(4 + level)]

    def solve(self, x: list[tuple[int, int]]) -> dict[int, int]:
        ends = [point for edge in x for point in edge]
        return {point: ends.count(point) for point in sorted(ends)}

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) <= 30
