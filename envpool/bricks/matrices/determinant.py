import random

from envpool import Environment


class Determinant(Environment):
    rule = "Give the determinant of the square matrix that the input holds row by row."

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        size = 2 if level < 3 else 3
        top = (6, 20, 99, 9, 40, 150)[level]
        return [[rng.randint(-top, top) for _ in range(size)] for _ in range(size)]

    def solve(self, x: list[list[int]]) -> int:
        if len(x) == 1:
            return x[0][0]
        minors = [[row[:column] + row[column + 1 :] for row in x[1:]] for column in range(len(x))]
        return sum((-1) ** column * x[0][column] * self.solve(minor) for column, minor in enumerate(minors))

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 4 and all(len(row) == len(x) and all(abs(n) <= 10**6 for n in row) for row in x)
