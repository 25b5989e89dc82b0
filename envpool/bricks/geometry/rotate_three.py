import random

from envpool import Environment


class RotateThree(Environment):
    rule = "Move the first of the three numbers of the input behind the other two."

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int]:
        top = 9 * 5**level
        return rng.randint(0, top), rng.randint(0, top), rng.randint(0, top)

    def solve(self, x: tuple[int, int, int]) -> tuple[int, int, int]:
        return x[1], x[2], x[0]
