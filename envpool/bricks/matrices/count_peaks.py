import random

from envpool import Environment


class CountPeaks(Environment):
    rule = (
        "The input is a table, row by row. Count the numbers that are larger than every number directly "
        "above, below, left or right of them. At the edge there are fewer of these; a number that has "
        "none around it counts."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns = (2, 2, 3, 3, 4, 4)[level], (3, 4, 4, 5, 5, 6)[level]
        return [[rng.randint(0, 9 + 10 * level) for _ in range(columns)] for _ in range(rows)]

    def solve(self, x: list[list[int]]) -> int:
        cells = {(row, place): n for row, numbers in enumerate(x) for place, n in enumerate(numbers)}
        around = ((0, 1), (0, -1), (1, 0), (-1, 0))
        return sum(
            all(n > cells.get((r + a, c + b), n - 1) for a, b in around) for (r, c), n in cells.items()
        )

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 8 and 0 < len(x[0]) <= 8 and all(len(row) == len(x[0]) for row in x)
