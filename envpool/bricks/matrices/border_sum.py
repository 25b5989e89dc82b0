import random

from envpool import Environment


class BorderSum(Environment):
    rule = (
        "The input is a table, row by row. Add up the numbers that stand in its first or last row or in "
        "its first or last column, each once."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns = 3 + level // 2, 3 + (level + 1) // 2
        return [[rng.randint(0, 9 + 10 * level) for _ in range(columns)] for _ in range(rows)]

    def solve(self, x: list[list[int]]) -> int:
        return sum(sum(row) for row in x) - sum(sum(row[1:-1]) for row in x[1:-1])

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 8 and 0 < len(x[0]) <= 8 and all(len(row) == len(x[0]) for row in x)
