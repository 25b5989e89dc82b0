import random

from envpool import Environment


class RectangleCorners(Environment):
    rule = "The input is (a, b, c, d). List the four points (a, b), (c, b), (c, d) and (a, d), in this order."

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int, int]:
        top = 9 * 3**level
        left, bottom = rng.randint(-top, top), rng.randint(-top, top)
        return left, bottom, left + rng.randint(1, top), bottom + rng.randint(1, top)

    def solve(self, x: tuple[int, int, int, int]) -> list[tuple[int, int]]:
        a, b, c, d = x
        return [(a, b), (c, b), (c, d), (a, d)]
