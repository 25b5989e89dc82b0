import random

from envpool import Environment


class DividesByThree(Environment):
    rule = "Can the input be divided by three without a remainder?"

    def sample(self, rng: random.Random, level: int) -> int:
        third = rng.randint(1, 20 * 4**level)
        return 3 * third if rng.random() < 0.5 else 3 * third + rng.randint(1, 2)

    def solve(self, x: int) -> bool:
        return x % 3 == 0
