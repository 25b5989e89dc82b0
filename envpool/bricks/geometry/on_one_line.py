import random

from envpool import Environment


class OnOneLine(Environment):
    rule = (
        "Do all points of the input list lie on one straight line? If all of them are the same point, or "
        "there are only one or two, they do."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        across, up = rng.randint(1, 3 + level), rng.choice((-1, 1)) * rng.randint(1, 3 + level)
        points = [
            (across * n + level, up * n - level) for n in rng.sample(range(-3 - level, 9 + level), 3 + level)
        ]
        if rng.random() < 0.5:
            points[rng.randint(1, 2)] = points[0][0] + across, points[0][1] + up + rng.choice((-1, 1))
        return points

    def solve(self, x: list[tuple[int, int]]) -> bool:
        if not x:
            return True
        (a, b), (c, d) = x[0], next((point for point in x if point != x[0]), x[0])
        return all((c - a) * (f - b) == (d - b) * (e - a) for e, f in x)

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 0 < len(x) <= 20
