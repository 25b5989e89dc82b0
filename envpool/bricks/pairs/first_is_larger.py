import random

from envpool import Environment


class FirstIsLarger(Environment):
    rule = "Is the first number of the input pair larger than the second?"

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        low = rng.randint(0, 10 ** (level + 1) - 1)
        high = low + rng.randint(1, 10 ** (level + 1))
        return rng.choice(((low, high), (high, low)))

    def solve(self, x: tuple[int, int]) -> bool:
        return x[0] > x[1]
