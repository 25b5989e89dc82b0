import itertools
import random

from envpool import Environment


class TwoOfThem(Environment):
    rule = (
        "List all pairs of two different numbers that occur in the input list, the smaller one first, each "
        "pair once, sorted by the first number, then by the second."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 5 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> list[tuple[int, int]]:
        return list(itertools.combinations(sorted(set(x)), 2))

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 10
