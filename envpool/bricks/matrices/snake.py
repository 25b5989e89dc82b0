import random

from envpool import Environment


class Snake(Environment):
    rule = (
        "The input is a list of rows. List all its numbers row by row: the first row from left to right, "
        "the second from right to left, the third from left to right again, and so on in turn."
    )

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        lengths = [rng.randint(1, 3 + level // 2) for _ in range(2 + level)]
        return [[rng.randint(0, 9 + 10 * level) for _ in range(length)] for length in lengths]

    def solve(self, x: list[list[int]]) -> list[int]:
        return [n for place, row in enumerate(x) for n in (row if place % 2 == 0 else row[::-1])]

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < sum(len(row) for row in x) <= 40
