import random

from envpool import Environment


class CountLeftTurns(Environment):
    rule = (
        "Visit the points of the input list in order. For every three entries (a, b), (c, d), (e, f) that "
        "directly follow one another, it is a left turn if (c - a) times (f - d) is larger than (d - b) "
        "times (e - c). Count the left turns."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 9 + 10 * level
        return [(rng.randint(0, top), rng.randint(0, top)) for _ in range(4 + level)]

    def solve(self, x: list[tuple[int, int]]) -> int:
        threes = zip(x, x[1:], x[2:], strict=False)
        return sum((c - a) * (f - d) > (d - b) * (e - c) for (a, b), (c, d), (e, f) in threes)

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 3 <= len(x) <= 20
