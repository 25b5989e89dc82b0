import itertools
import random

from envpool import Environment


class RunningTotals(Environment):
    rule = "Replace each number of the input list by the sum of it and all numbers before it."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return list(itertools.accumulate(x))

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 0
