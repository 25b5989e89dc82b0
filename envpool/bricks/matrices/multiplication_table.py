import random

from envpool import Environment


class MultiplicationTable(Environment):
    rule = (
        "Make a table with a row and a column for every number of the input list, in order. Each entry is "
        "the number of its row times the number of its column. Write the table row by row."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        low, top = ((1, 9), (1, 9), (10, 40), (2, 25), (11, 60), (11, 90))[level]
        return [rng.randint(low, top) for _ in range(2 + (level + 1) // 2)]

    def solve(self, x: list[int]) -> list[list[int]]:
        return [[a * b for b in x] for a in x]

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 5 and all(abs(n) <= 1000 for n in x)
