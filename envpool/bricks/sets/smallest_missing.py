import random

from envpool import Environment


class SmallestMissing(Environment):
    rule = "Give the smallest whole number, from 0 on, that does not occur in the input list."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        size = 5 + level
        return [min(rng.randint(0, size), rng.randint(0, size + 10 * level)) for _ in range(size)]

    def solve(self, x: list[int]) -> int:
        return next(n for n in range(len(x) + 1) if n not in x)

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 30
