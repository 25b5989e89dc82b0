import random

from envpool import Environment


class SumEach(Environment):
    rule = "List the sum of each pair of the input list."

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 9 + 10 * level
        return [(rng.randint(0, top), rng.randint(0, top)) for _ in range(2 + level)]

    def solve(self, x: list[tuple[int, int]]) -> list[int]:
        return [a + b for a, b in x]

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) > 0
