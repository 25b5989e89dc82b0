import random

from envpool import Environment


class RowsTimesList(Environment):
    rule = (
        "The input holds a list of rows and a list. For every row multiply its first number by the first "
        "of the list, its second by the second and so on, and add up the products. List these sums, in "
        "the order of the rows."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[list[int]], list[int]]:
        rows, columns, top = 2 + level // 2, 2 + (level + 1) // 2, 9 + 3 * level
        table = [[rng.randint(0, top) for _ in range(columns)] for _ in range(rows)]
        return table, [rng.randint(0, top) for _ in range(columns)]

    def solve(self, x: tuple[list[list[int]], list[int]]) -> list[int]:
        return [sum(a * b for a, b in zip(row, x[1], strict=True)) for row in x[0]]

    def accepts(self, x: tuple[list[list[int]], list[int]]) -> bool:
        return 0 < len(x[0]) <= 8 and 0 < len(x[1]) <= 8 and all(len(row) == len(x[1]) for row in x[0])
