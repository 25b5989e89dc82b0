import random

from envpool import Environment


class Direction(Environment):
    rule = (
        "The input is a point (x, y). Write north if y is above 0 and south if it is below 0, directly "
        "followed by east if x is above 0 and west if it is below 0. Where a coordinate is 0 write "
        "nothing for it; for (0, 0) write only origin."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        top = 3 * 5**level
        return rng.choice((0, 1, 1, 1)) * rng.randint(-top, top), rng.choice((0, 1, 1, 1)) * rng.randint(
            -top, top
        )

    def solve(self, x: tuple[int, int]) -> str:
        upwards = "north" if x[1] > 0 else "south" if x[1] < 0 else ""
        return upwards + ("east" if x[0] > 0 else "west" if x[0] < 0 else "") or "origin"
