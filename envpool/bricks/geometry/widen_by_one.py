import random

from envpool import Environment


class WidenByOne(Environment):
    rule = (
        "Subtract one from the first and from the second number of the input and add one to its third and "
        "to its fourth."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int, int]:
        top = 9 * 3**level
        left, bottom = rng.randint(-top, top), rng.randint(-top, top)
        return left, bottom, left + rng.randint(1, top), bottom + rng.randint(1, top)

    def solve(self, x: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        return x[0] - 1, x[1] - 1, x[2] + 1, x[3] + 1
