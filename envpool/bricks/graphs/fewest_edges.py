import random

from envpool import Environment


class FewestEdges(Environment):
    rule = (
        "Each pair of the input is an edge, passable both ways. How few edges lead from the first number of "
        "the first pair to the second of the last pair? 0 if these are equal, -1 if there is no way."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 5 + level
        return [(rng.randint(1, top), rng.randint(1, top)) for _ in range(5 + level)]

    def solve(self, x: list[tuple[int, int]]) -> int:
        goal, reached = x[-1][1], {x[0][0]}
        for steps in range(len(x) + 1):
            if goal in reached:
                return steps
            reached |= {point for edge in x if reached & set(edge) for point in edge}
        return -1

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 0 < len(x) <= 30
