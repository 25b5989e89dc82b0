import random

from envpool import Environment


class MatrixPlaces(Environment):
    rule = (
        "Count the rows of the input, and the places in each row, from 0. For every row, list the places at "
        "which its number is not 0, in increasing order."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        return [[rng.choice((0, 0, 1, 2)) for _ in range(3 + level)] for _ in range(2 + level)]

    def solve(self, x: list[list[int]]) -> dict[int, list[int]]:
        return {place: [at for at, number in enumerate(row) if number] for place, row in enumerate(x)}

    def accepts(self, x: list[list[int]]) -> bool:
        return len(x) <= 10
