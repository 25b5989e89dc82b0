import random

from envpool import Environment


class Total(Environment):
    rule = "Add up the numbers of the input list."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(2 + level)]

    def solve(self, x: list[int]) -> int:
        return sum(x)

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 0
