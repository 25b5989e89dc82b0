import random

from envpool import Environment


class AppendZero(Environment):
    rule = "Write the input list with a zero added at the end."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return [*x, 0]
