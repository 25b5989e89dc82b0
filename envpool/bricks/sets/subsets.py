import itertools
import random

from envpool import Environment


class Subsets(Environment):
    rule = (
        "List every set of different numbers that occur in the input list, each set as a list in increasing "
        "order: smaller sets first, the empty one before all; equal sizes by the first number that differs."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        numbers = rng.sample(range(10 + 10 * level), 2 + (level > 0))
        return numbers + rng.choices(numbers, k=level)

    def solve(self, x: list[int]) -> list[list[int]]:
        numbers = sorted(set(x))
        return [
            list(chosen)
            for size in range(len(numbers) + 1)
            for chosen in itertools.combinations(numbers, size)
        ]

    def accepts(self, x: list[int]) -> bool:
        return len(set(x)) <= 4 and len(x) <= 30
