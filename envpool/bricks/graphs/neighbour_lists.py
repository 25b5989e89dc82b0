import random

from envpool import Environment


class NeighbourLists(Environment):
    rule = (
        "Each pair of the input joins its two numbers to each other, a pair of equal numbers the number to "
        "itself. For every number in the pairs, list the different numbers joined to it, in increasing "
        "order."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 4 + level
        return [(rng.randint(1, top), rng.randint(1, top)) for _ in range(4 + level)]

    def solve(self, x: list[tuple[int, int]]) -> dict[int, list[int]]:
        both = {*x, *((b, a) for a, b in x)}
        return {point: sorted(b for a, b in both if a == point) for point in sorted(a for a, _ in both)}

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) <= 30
