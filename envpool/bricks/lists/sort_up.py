import random

from envpool import Environment


class SortUp(Environment):
    rule = "Sort the input list from the smallest number to the largest."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return sorted(x)

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 0
