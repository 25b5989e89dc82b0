import random

from envpool import Environment


class CornerTotals(Environment):
    rule = (
        "The input is a table, row by row. Replace every number by the sum of all numbers of the input "
        "that are not below it and not to the right of it, itself included."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns = 2 + level // 2, 2 + (level + 1) // 2
        return [[rng.randint(0, 9 + 10 * level) for _ in range(columns)] for _ in range(rows)]

    def solve(self, x: list[list[int]]) -> list[list[int]]:
        rows = enumerate(x, 1)
        return [
            [sum(sum(row[:i]) for row in x[:down]) for i in range(1, len(last) + 1)] for down, last in rows
        ]

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 6 and 0 < len(x[0]) <= 6 and all(len(row) == len(x[0]) for row in x)
