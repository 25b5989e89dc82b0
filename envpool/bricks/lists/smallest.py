import random

from envpool import Environment


class Smallest(Environment):
    rule = "Give the smallest number of the input list."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> int:
        return min(x)

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 0
