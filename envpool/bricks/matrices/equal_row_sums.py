import random

from envpool import Environment


class EqualRowSums(Environment):
    rule = "The input is a list of rows. Do all rows have the same sum? An empty row has the sum 0."

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns, top = 2 + level // 2, 2 + (level + 1) // 2, 9 + 10 * level
        table = [[rng.randint(0, top) for _ in range(columns)] for _ in range(rows)]
        for row in table:
            row[-1] += columns * top - sum(row)
        if rng.random() < 0.5:
            rng.choice(table)[0] += rng.randint(1, 3)
        return table

    def solve(self, x: list[list[int]]) -> bool:
        return all(sum(row) == sum(x[0]) for row in x)

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 10 and all(len(row) <= 10 for row in x)
