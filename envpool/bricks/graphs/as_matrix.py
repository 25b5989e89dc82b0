import random

from envpool import Environment


class AsMatrix(Environment):
    rule = (
        "Rows and columns stand for the keys of the input in increasing order. Write the rows: 1 where the "
        "key of the column is in the list of the key of the row, else 0."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, list[int]]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 3 + level // 2))
        return {name: rng.sample(names, rng.randint(level % 2, len(names) - 1)) for name in names}

    def solve(self, x: dict[int, list[int]]) -> list[list[int]]:
        return [[int(column in x[row]) for column in sorted(x)] for row in sorted(x)]

    def accepts(self, x: dict[int, list[int]]) -> bool:
        return 0 < len(x) <= 8
