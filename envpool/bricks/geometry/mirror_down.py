import random

from envpool import Environment


class MirrorDown(Environment):
    rule = "The input is a point (x, y). Keep x and change the sign of y."

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        top = 9 * 5**level
        return rng.randint(-top, top), rng.randint(1, top)

    def solve(self, x: tuple[int, int]) -> tuple[int, int]:
        return x[0], -x[1]
