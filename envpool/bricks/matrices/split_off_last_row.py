import random

from envpool import Environment


class SplitOffLastRow(Environment):
    rule = "The input is a list of rows. Give a pair: the list of all rows but the last, then the last row."

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns = 2 + (level + 1) // 2, 2 + level // 2
        return [[rng.randint(0, 9 + 10 * level) for _ in range(columns)] for _ in range(rows)]

    def solve(self, x: list[list[int]]) -> tuple[list[list[int]], list[int]]:
        return x[:-1], x[-1]

    def accepts(self, x: list[list[int]]) -> bool:
        return 2 <= len(x) <= 10 and all(len(row) <= 10 for row in x)
