import random

from envpool import Environment


class RowSums(Environment):
    rule = (
        "The input is a list of rows. List the sum of the numbers of every row; an empty row has the sum 0."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        lengths = [rng.randint(2, 3 + level // 2) for _ in range(2 + level)]
        return [[rng.randint(0, 9 + 10 * level) for _ in range(length)] for length in lengths]

    def solve(self, x: list[list[int]]) -> list[int]:
        return [sum(row) for row in x]

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 10 and all(len(row) <= 10 for row in x)
