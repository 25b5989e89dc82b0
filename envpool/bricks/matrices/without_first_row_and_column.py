import random

from envpool import Environment


class WithoutFirstRowAndColumn(Environment):
    rule = "The input is a table, row by row. Leave out its first row and its first column and write what is left."

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns = 3 + level // 2, 3 + (level + 1) // 2
        return [[rng.randint(0, 9 + 10 * level) for _ in range(columns)] for _ in range(rows)]

    def solve(self, x: list[list[int]]) -> list[list[int]]:
        return [row[1:] for row in x[1:]]

    def accepts(self, x: list[list[int]]) -> bool:
        return 2 <= len(x) <= 8 and 2 <= len(x[0]) <= 8 and all(len(row) == len(x[0]) for row in x)
