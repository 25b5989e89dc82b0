import random

from envpool import Environment


class SquaredDistance(Environment):
    rule = "The input is a point (x, y). Add the square of x and the square of y."

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        top = 9 * 3**level
        return rng.randint(-top, top), rng.randint(-top, top)

    def solve(self, x: tuple[int, int]) -> int:
        return x[0] ** 2 + x[1] ** 2

    def accepts(self, x: tuple[int, int]) -> bool:
        return all(abs(n) <= 10**9 for n in x)
