import random

from envpool import Environment


class TensAndRest(Environment):
    rule = "Divide the input by ten; give the whole quotient and the remainder, from 0 to 9, as a pair."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (level + 1), 10 ** (level + 2) - 1)

    def solve(self, x: int) -> tuple[int, int]:
        return x // 10, x % 10
