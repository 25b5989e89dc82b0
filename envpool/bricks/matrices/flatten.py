import random

from envpool import Environment


class Flatten(Environment):
    rule = "The input is a list of rows. List all its numbers in order, the first row first."

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        lengths = [rng.randint(1, 3 + level // 2) for _ in range(2 + level)]
        return [[rng.randint(0, 9 + 10 * level) for _ in range(length)] for length in lengths]

    def solve(self, x: list[list[int]]) -> list[int]:
        return [number for row in x for number in row]

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < sum(len(row) for row in x) <= 40
