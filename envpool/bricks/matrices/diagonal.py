import random

from envpool import Environment


class Diagonal(Environment):
    rule = (
        "The input is a table, row by row. List the first number of the first row, the second of the "
        "second row and so on, for as long as there is both such a row and such a column."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns = 2 + level // 2, 2 + (level + 1) // 2
        return [[rng.randint(0, 9 + 10 * level) for _ in range(columns)] for _ in range(rows)]

    def solve(self, x: list[list[int]]) -> list[int]:
        return [row[place] for place, row in enumerate(x) if place < len(row)]

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 8 and 0 < len(x[0]) <= 8 and all(len(row) == len(x[0]) for row in x)
