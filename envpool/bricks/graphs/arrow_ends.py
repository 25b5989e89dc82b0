import random

from envpool import Environment


class ArrowEnds(Environment):
    rule = (
        "Each pair of the input is an arrow from its first to its second number. For every number in the "
        "pairs, list the ends of the arrows that start at it, in input order with repeats; the list may be "
        "empty."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 4 + level
        return [(rng.randint(1, top), rng.randint(1, top)) for _ in range(4 + level)]

    def solve(self, x: list[tuple[int, int]]) -> dict[int, list[int]]:
        return {point: [b for a, b in x if a == point] for edge in x for point in edge}

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) <= 30
