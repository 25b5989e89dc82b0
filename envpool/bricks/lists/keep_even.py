import random

from envpool import Environment


class KeepEven(Environment):
    rule = "Keep only the even numbers of the input list, in order."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(4 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return [n for n in x if n % 2 == 0]

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 0
