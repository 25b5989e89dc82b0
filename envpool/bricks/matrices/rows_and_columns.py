import random

from envpool import Environment


class RowsAndColumns(Environment):
    rule = "The input is a table, row by row. Give a pair: the number of rows and the number of columns."

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns = rng.randint(1, 4) + level // 2, rng.randint(1, 4) + (level + 1) // 2
        return [[rng.randint(0, 9 + 5 * level) for _ in range(columns)] for _ in range(rows)]

    def solve(self, x: list[list[int]]) -> tuple[int, int]:
        return len(x), len(x[0]) if x else 0

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 8 and 0 < len(x[0]) <= 8 and all(len(row) == len(x[0]) for row in x)
