import random

from envpool import Environment


class MirrorRows(Environment):
    rule = "The input is a list of rows. Write the numbers of every row in reverse order; keep the order of the rows."

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        lengths = [rng.randint(1, 3 + level // 2) for _ in range(2 + level)]
        return [[rng.randint(0, 9 + 10 * level) for _ in range(length)] for length in lengths]

    def solve(self, x: list[list[int]]) -> list[list[int]]:
        return [row[::-1] for row in x]

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 10 and all(len(row) <= 10 for row in x)
