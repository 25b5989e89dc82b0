import itertools
import random

from envpool import Environment


class CountTriangles(Environment):
    rule = (
        "Each pair of the input joins its two numbers; repeated pairs and the order in a pair make no "
        "difference. Count the sets of three different numbers of which every two are joined."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        edges = list(itertools.combinations(range(1, 5 + level), 2))
        return rng.sample(edges, rng.randint(4, 6) + 2 * level)

    def solve(self, x: list[tuple[int, int]]) -> int:
        edges = {frozenset(edge) for edge in x}
        points = sorted({point for edge in x for point in edge})
        threes = itertools.combinations(points, 3)
        return sum(
            all(frozenset(two) in edges for two in itertools.combinations(three, 2)) for three in threes
        )

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) <= 20
