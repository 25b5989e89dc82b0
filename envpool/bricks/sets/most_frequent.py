import random

from envpool import Environment


class MostFrequent(Environment):
    rule = (
        "List in increasing order the numbers that occur most often in the input list: every number that "
        "occurs as often as any does, each once."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        top = 4 + level
        return [rng.randint(0, top) for _ in range(6 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return sorted({n for n in x if x.count(n) == max(map(x.count, x))})

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 30
