import random

from envpool import Environment


class NearestFirst(Environment):
    rule = (
        "The input is a list of points (x, y). Sort them by the sum of the squares of x and y, smallest "
        "first; where the sums are equal, points keep their order."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 9 + 10 * level
        return [(rng.randint(-top, top), rng.randint(-top, top)) for _ in range(3 + level)]

    def solve(self, x: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return sorted(x, key=lambda point: point[0] ** 2 + point[1] ** 2)

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 0 < len(x) <= 30 and all(abs(a) <= 10**9 and abs(b) <= 10**9 for a, b in x)
