import random

from envpool import Environment


class SortBySecond(Environment):
    rule = (
        "Sort the pairs of the input list by their second numbers, smallest first; equal ones keep "
        "their order."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 9 + 10 * level
        return [(rng.randint(0, top), rng.randint(0, top)) for _ in range(3 + level)]

    def solve(self, x: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return sorted(x, key=lambda pair: pair[1])

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) > 0
