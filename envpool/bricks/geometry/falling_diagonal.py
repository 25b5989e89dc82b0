import random

from envpool import Environment


class FallingDiagonal(Environment):
    rule = "The input is (a, b, c, d). Give a pair of points: first (a, d), then (c, b)."

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int, int]:
        top = 9 * 3**level
        left, bottom = rng.randint(-top, top), rng.randint(-top, top)
        return left, bottom, left + rng.randint(1, top), bottom + rng.randint(1, top)

    def solve(self, x: tuple[int, int, int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
        return (x[0], x[3]), (x[2], x[1])
