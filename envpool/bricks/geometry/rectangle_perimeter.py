import random

from envpool import Environment


class RectanglePerimeter(Environment):
    rule = (
        "The input (a, b, c, d) stands for a rectangle with sides along the axes and the opposite corners "
        "(a, b) and (c, d). Give the sum of its four side lengths."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int, int]:
        top = 9 * 3**level
        left, bottom = rng.randint(-top, top), rng.randint(-top, top)
        return left, bottom, left + rng.randint(1, top), bottom + rng.randint(1, top)

    def solve(self, x: tuple[int, int, int, int]) -> int:
        return 2 * (abs(x[2] - x[0]) + abs(x[3] - x[1]))
