import random

from envpool import Environment


class Neighbours(Environment):
    rule = "Give the whole number before the input and the one after it, as a pair."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(1, 40 * 4**level)

    def solve(self, x: int) -> tuple[int, int]:
        return x - 1, x + 1
