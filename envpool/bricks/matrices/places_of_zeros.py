import random

from envpool import Environment


class PlacesOfZeros(Environment):
    rule = (
        "The input is a list of rows. For every zero give a pair: its row and its place in that row, both "
        "counted from 1. List the pairs row by row, from left to right."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns = (2, 2, 3, 3, 4, 4)[level], (3, 4, 4, 5, 5, 6)[level]
        return [
            [rng.choice((0, rng.randint(1, 9 + 10 * level))) for _ in range(columns)] for _ in range(rows)
        ]

    def solve(self, x: list[list[int]]) -> list[tuple[int, int]]:
        return [
            (row, place) for row, numbers in enumerate(x, 1) for place, n in enumerate(numbers, 1) if n == 0
        ]

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < sum(len(row) for row in x) <= 40
