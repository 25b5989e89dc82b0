import random

from envpool import Environment


class CountBySide(Environment):
    rule = (
        "The input is a list of points (x, y). Give three numbers: how many points have an x below 0, how "
        "many have x equal to 0 and how many have an x above 0."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 3 + 10 * level
        return [(rng.randint(-2 - level, 2 + level), rng.randint(-top, top)) for _ in range(4 + level)]

    def solve(self, x: list[tuple[int, int]]) -> tuple[int, int, int]:
        below, above = sum(a < 0 for a, _ in x), sum(a > 0 for a, _ in x)
        return below, len(x) - below - above, above

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 0 < len(x) <= 30
