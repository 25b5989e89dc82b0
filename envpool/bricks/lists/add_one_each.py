import random

from envpool import Environment


class AddOneEach(Environment):
    rule = "Add one to every number of the input list."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return [n + 1 for n in x]

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 0
