import random

from envpool import Environment


class CountNumbers(Environment):
    rule = "Count the numbers of the input list."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9) for _ in range(rng.randint(1 + level, 5 + 3 * level))]

    def solve(self, x: list[int]) -> int:
        return len(x)
