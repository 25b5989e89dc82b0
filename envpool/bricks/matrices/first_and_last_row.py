import random

from envpool import Environment


class FirstAndLastRow(Environment):
    rule = (
        "The input is a list of rows. Give its first and its last row as a pair; if there is only one "
        "row, it is both."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        return [
            [rng.randint(0, 9 + 10 * level) for _ in range(2 + level // 2)]
            for _ in range(2 + (level + 1) // 2)
        ]

    def solve(self, x: list[list[int]]) -> tuple[list[int], list[int]]:
        return x[0], x[-1]

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 10 and all(len(row) <= 10 for row in x)
