import random

from envpool import Environment


class NextThree(Environment):
    rule = "List the three whole numbers that follow the input."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(1, 40 * 4**level)

    def solve(self, x: int) -> list[int]:
        return [x + 1, x + 2, x + 3]
