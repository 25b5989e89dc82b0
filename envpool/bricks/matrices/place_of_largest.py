import random

from envpool import Environment


class PlaceOfLargest(Environment):
    rule = (
        "The input is a list of rows. Give a pair: the row and the place in that row of its largest "
        "number, both counted from 1. Of several largest take the one in the earliest row, and there the "
        "leftmost."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        rows, columns = 2 + level // 2, 2 + (level + 1) // 2
        return [[rng.randint(0, 9 + 10 * level) for _ in range(columns)] for _ in range(rows)]

    def solve(self, x: list[list[int]]) -> tuple[int, int]:
        cells = [(-n, row, place) for row, numbers in enumerate(x, 1) for place, n in enumerate(numbers, 1)]
        return min(cells)[1:]

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < sum(len(row) for row in x) <= 64
