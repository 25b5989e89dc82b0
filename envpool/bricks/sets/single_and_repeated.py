import random

from envpool import Environment


class SingleAndRepeated(Environment):
    rule = (
        "Give two lists, each in increasing order without repeats: the numbers that occur exactly once in "
        "the input list, then those that occur more than once."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        top = 5 + level
        return [rng.randint(0, top) for _ in range(6 + level)]

    def solve(self, x: list[int]) -> tuple[list[int], list[int]]:
        return sorted(n for n in set(x) if x.count(n) == 1), sorted(n for n in set(x) if x.count(n) > 1)

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 30
