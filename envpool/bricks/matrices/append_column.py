import random

from envpool import Environment


class AppendColumn(Environment):
    rule = (
        "The input holds a list of rows and a list. To the end of the first row add the first number of "
        "the list, to the end of the second row the second number, and so on; stop where rows or numbers "
        "run out and leave out what is left of either."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[list[int]], list[int]]:
        rows, columns, top = 2 + level // 2, 1 + (level + 1) // 2, 9 + 10 * level
        table = [[rng.randint(0, top) for _ in range(columns)] for _ in range(rows)]
        return table, [rng.randint(0, top) for _ in range(rng.randint(2, 4) + level // 2)]

    def solve(self, x: tuple[list[list[int]], list[int]]) -> list[list[int]]:
        return [[*row, number] for row, number in zip(*x, strict=False)]

    def accepts(self, x: tuple[list[list[int]], list[int]]) -> bool:
        return 0 < len(x[0]) <= 8 and 0 < len(x[1]) <= 8 and all(len(row) <= 8 for row in x[0])
