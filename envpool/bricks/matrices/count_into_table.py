import random

from envpool import Environment


class CountIntoTable(Environment):
    rule = (
        "Make a table of four rows and four columns, all zeros. For each pair (row, column) of the input "
        "list, both counted from 1, add one to that entry. Write the table row by row."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        return [(rng.randint(1, 4), rng.randint(1, 4)) for _ in range(3 + level)]

    def solve(self, x: list[tuple[int, int]]) -> list[list[int]]:
        return [[x.count((row, column)) for column in range(1, 5)] for row in range(1, 5)]

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 0 < len(x) <= 20 and all(1 <= row <= 4 and 1 <= column <= 4 for row, column in x)
