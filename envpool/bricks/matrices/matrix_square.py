import random

from envpool import Environment


class MatrixSquare(Environment):
    rule = (
        "The input is a square matrix, row by row. Multiply it by itself: the number in row i and column "
        "j of the product is the sum of row i times column j, entry by entry."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        size = 2 if level < 3 else 3
        top = (6, 20, 99, 9, 40, 150)[level]
        return [[rng.randint(0, top) for _ in range(size)] for _ in range(size)]

    def solve(self, x: list[list[int]]) -> list[list[int]]:
        columns = list(zip(*x, strict=True))
        return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in x]

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 4 and all(len(row) == len(x) and all(abs(n) <= 10**6 for n in row) for row in x)
