import random

from envpool import Environment


class NumberCounts(Environment):
    rule = (
        "For each different number in the rows of the input, give how often it occurs in all rows together."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        lengths = [rng.randint(2, 3 + level // 2) for _ in range(2 + level)]
        return [[rng.randint(0, 4 + 2 * level) for _ in range(length)] for length in lengths]

    def solve(self, x: list[list[int]]) -> dict[int, int]:
        numbers = [n for row in x for n in row]
        return {n: numbers.count(n) for n in numbers}

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < sum(len(row) for row in x) <= 40
