import random

from envpool import Environment


class TwicePolygonArea(Environment):
    rule = (
        "For each point (a, b) of the input list and the next point (c, d), the first being the next "
        "after the last, take a times d minus b times c. Add all these up and give the sum without its "
        "sign."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 5 + 5 * level
        return [(rng.randint(0, top), rng.randint(0, top)) for _ in range(3 + level)]

    def solve(self, x: list[tuple[int, int]]) -> int:
        following = [*x[1:], *x[:1]]
        return abs(sum(a * d - b * c for (a, b), (c, d) in zip(x, following, strict=True)))

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 3 <= len(x) <= 12 and all(abs(a) <= 10**6 and abs(b) <= 10**6 for a, b in x)
