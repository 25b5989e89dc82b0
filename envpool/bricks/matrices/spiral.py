import random

from envpool import Environment


class Spiral(Environment):
    rule = (
        "The input is a table, row by row. List its numbers in a spiral: the first row from left to "
        "right, down the last column, the bottom row from right to left, up the first column, and so on "
        "inwards, each number once."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns = (2, 2, 3, 3, 4, 4)[level], (2, 3, 3, 4, 4, 5)[level]
        return [[rng.randint(0, 9 + 10 * level) for _ in range(columns)] for _ in range(rows)]

    def solve(self, x: list[list[int]]) -> list[int]:
        numbers: list[int] = []
        while x:
            numbers += x[0]
            x = [list(column) for column in zip(*x[1:], strict=True)][::-1]
        return numbers

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 6 and 0 < len(x[0]) <= 6 and all(len(row) == len(x[0]) for row in x)
