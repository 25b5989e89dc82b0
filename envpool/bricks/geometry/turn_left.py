import random

from envpool import Environment


class TurnLeft(Environment):
    rule = (
        "The input is a point (x, y); x grows to the right and y upwards. Turn it anticlockwise by a "
        "quarter turn around (0, 0) and give the new point."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        top = 9 * 5**level
        return rng.randint(-top, top), rng.randint(-top, top)

    def solve(self, x: tuple[int, int]) -> tuple[int, int]:
        return -x[1], x[0]
