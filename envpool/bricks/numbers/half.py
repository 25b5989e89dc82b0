import random

from envpool import Environment


class Half(Environment):
    rule = "Divide the input by two and drop any half: 7 gives 3, and -7 gives -3."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(1, 40 * 4**level)

    def solve(self, x: int) -> int:
        return x // 2 if x >= 0 else -(-x // 2)
