import random

from envpool import Environment


class RowsBySum(Environment):
    rule = (
        "The input is a list of rows. Order the rows by their sums, smallest sum first; rows with equal "
        "sums keep their order and an empty row has the sum 0."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        lengths = [rng.randint(1, 2 + level // 2) for _ in range(3 + level)]
        return [[rng.randint(0, 9 + 10 * level) for _ in range(length)] for length in lengths]

    def solve(self, x: list[list[int]]) -> list[list[int]]:
        return sorted(x, key=sum)

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 10 and all(len(row) <= 10 for row in x)
