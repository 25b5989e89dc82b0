import random

from envpool import Environment


class SumOfNeighbours(Environment):
    rule = (
        "The input is a table, row by row. Replace every number by the sum of the numbers directly above, "
        "below, left and right of it in the input; where there is none, add nothing."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns = 2 + level // 2, 2 + (level + 1) // 2
        return [[rng.randint(0, 9 + 10 * level) for _ in range(columns)] for _ in range(rows)]

    def solve(self, x: list[list[int]]) -> list[list[int]]:
        cells = {(row, place): n for row, numbers in enumerate(x) for place, n in enumerate(numbers)}
        around = ((0, 1), (0, -1), (1, 0), (-1, 0))
        return [
            [sum(cells.get((r + a, c + b), 0) for a, b in around) for c in range(len(row))]
            for r, row in enumerate(x)
        ]

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 6 and 0 < len(x[0]) <= 6 and all(len(row) == len(x[0]) for row in x)
