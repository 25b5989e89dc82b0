import random

from envpool import Environment


class IsSquareShape(Environment):
    rule = (
        "The input (a, b, c, d) stands for a rectangle with sides along the axes and the opposite corners "
        "(a, b) and (c, d), x first. Is it as long in the x direction as in the y direction?"
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int, int]:
        top = 9 * 3**level
        left, bottom, side = rng.randint(-top, top), rng.randint(-top, top), rng.randint(2, top)
        other = side if rng.random() < 0.5 else side + rng.choice((-1, 1, 2))
        return left, bottom, left + side, bottom + other

    def solve(self, x: tuple[int, int, int, int]) -> bool:
        return abs(x[2] - x[0]) == abs(x[3] - x[1])
