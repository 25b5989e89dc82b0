import random

from envpool import Environment


class AlongAnAxis(Environment):
    rule = "The input holds two points (x, y). Have they the same x or the same y, or both?"

    def sample(self, rng: random.Random, level: int) -> tuple[tuple[int, int], tuple[int, int]]:
        top = 9 * 5**level
        start, end = (
            (rng.randint(-top, top), rng.randint(-top, top)),
            (rng.randint(-top, top), rng.randint(-top, top)),
        )
        if rng.random() < 0.5:
            end = rng.choice(((start[0], end[1]), (end[0], start[1])))
        return start, end

    def solve(self, x: tuple[tuple[int, int], tuple[int, int]]) -> bool:
        return x[0][0] == x[1][0] or x[0][1] == x[1][1]
