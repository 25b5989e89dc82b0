import itertools
import random

from envpool import Environment


class LargestSoFar(Environment):
    rule = "Replace each number of the input list by the largest among it and all numbers before it."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(5 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return list(itertools.accumulate(x, max))

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30
