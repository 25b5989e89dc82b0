import random

from envpool import Environment


class BestPath(Environment):
    rule = (
        "The input is a table, row by row. Walk from its first number to its last, each step one entry to "
        "the right or one down. Give the largest sum that the numbers on such a path can have, both ends "
        "included."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns = 2 + level // 2, 2 + (level + 1) // 2
        return [[rng.randint(0, 9 + 10 * level) for _ in range(columns)] for _ in range(rows)]

    def solve(self, x: list[list[int]]) -> int:
        best: dict[tuple[int, int], int] = {}
        for r, row in enumerate(x):
            for c, number in enumerate(row):
                before = [best[cell] for cell in ((r - 1, c), (r, c - 1)) if cell in best]
                best[r, c] = number + max(before, default=0)
        return best[len(x) - 1, len(x[0]) - 1]

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 8 and 0 < len(x[0]) <= 8 and all(len(row) == len(x[0]) for row in x)
