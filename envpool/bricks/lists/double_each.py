import random

from envpool import Environment


class DoubleEach(Environment):
    rule = "Multiply every number of the input list by two."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(2 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return [2 * n for n in x]

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 0
