import random

from envpool import Environment


class KingDistance(Environment):
    rule = (
        "The input is a point (x, y). Give the smallest number of moves that lead from (0, 0) to it when "
        "a move changes x, y or both by one."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        top = 9 * 5**level
        return rng.randint(-top, top), rng.randint(-top, top)

    def solve(self, x: tuple[int, int]) -> int:
        return max(abs(x[0]), abs(x[1]))
