import random

from envpool import Environment


class PlainEdges(Environment):
    rule = (
        "Write every pair of the input with its smaller number first, leave out the pairs of two equal "
        "numbers, and keep each pair only where it occurs first."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 3 + level
        return [(rng.randint(1, top), rng.randint(1, top)) for _ in range(4 + level)]

    def solve(self, x: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return list(dict.fromkeys((min(edge), max(edge)) for edge in x if edge[0] != edge[1]))

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) <= 30
