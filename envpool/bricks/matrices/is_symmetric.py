import random

from envpool import Environment


class IsSymmetric(Environment):
    rule = (
        "The input is a square table, row by row. Does it stay the same when its columns, from left to "
        "right, are written as rows?"
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        size, top = (2, 2, 3, 3, 4, 5)[level], 9 + 30 * level
        table = [[rng.randint(0, top) for _ in range(size)] for _ in range(size)]
        for row in range(size):
            for column in range(row):
                table[row][column] = table[column][row]
        if rng.random() < 0.5:
            table[size - 1][rng.randint(0, size - 2)] = top + 1
        return table

    def solve(self, x: list[list[int]]) -> bool:
        return x == [list(column) for column in zip(*x, strict=True)]

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 8 and all(len(row) == len(x) for row in x)
