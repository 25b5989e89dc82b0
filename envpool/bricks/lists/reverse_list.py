import random

from envpool import Environment


class ReverseList(Environment):
    rule = "Write the input list in reverse order."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return x[::-1]

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 0
