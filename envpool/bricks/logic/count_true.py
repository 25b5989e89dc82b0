import random

from envpool import Environment


class CountTrue(Environment):
    rule = "Count how often true occurs in the input list."

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(rng.randint(3 + level, 6 + 2 * level))]

    def solve(self, x: list[bool]) -> int:
        return sum(x)

    def accepts(self, x: list[bool]) -> bool:
        return len(x) > 0
