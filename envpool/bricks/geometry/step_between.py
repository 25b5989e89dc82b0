import random

from envpool import Environment


class StepBetween(Environment):
    rule = (
        "The input holds two points (x, y). Give a pair: the x of the second minus the x of the first, "
        "the y of the second minus the y of the first."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[tuple[int, int], tuple[int, int]]:
        top = 9 * 5**level
        return (rng.randint(-top, top), rng.randint(-top, top)), (
            rng.randint(-top, top),
            rng.randint(-top, top),
        )

    def solve(self, x: tuple[tuple[int, int], tuple[int, int]]) -> tuple[int, int]:
        return x[1][0] - x[0][0], x[1][1] - x[0][1]
