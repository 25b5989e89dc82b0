import random

from envpool import Environment


class Spread(Environment):
    rule = "Subtract the smallest number of the input list from the largest."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> int:
        return max(x) - min(x)

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 0
