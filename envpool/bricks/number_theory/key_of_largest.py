import random

from envpool import Environment


class KeyOfLargest(Environment):
    rule = "Give the key of the input that has the largest value; of several the smallest key."

    def sample(self, rng: random.Random, level: int) -> dict[int, int]:
        top = 9 + 10 * level
        return {rng.randint(1, top): rng.randint(0, top) for _ in range(3 + level)}

    def solve(self, x: dict[int, int]) -> int:
        return min(x, key=lambda key: (-x[key], key))

    def accepts(self, x: dict[int, int]) -> bool:
        return 0 < len(x) <= 30
