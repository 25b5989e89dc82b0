import random

from envpool import Environment


class RemainderByThree(Environment):
    rule = "Give the remainder, 0, 1 or 2, when the input is divided by three."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(1, 40 * 4**level)

    def solve(self, x: int) -> int:
        return x % 3
