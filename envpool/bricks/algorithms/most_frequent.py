import random

from envpool import Environment


class MostFrequent(Environment):
    rule = "Give the number that occurs most often in the input list; of several the smallest."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 6 + 4 * level) for _ in range(6 + 2 * level)]

    def solve(self, x: list[int]) -> int:
        return max(sorted(x), key=x.count)

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30
