import random

from envpool import Environment


class ReachedFromFirst(Environment):
    rule = (
        "Each pair of the input is an arrow from its first to its second number. List in increasing order "
        "the numbers that arrows lead to from the first number of the first pair, in any number of steps, "
        "and that number itself."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 4 + level
        return [(rng.randint(1, top), rng.randint(1, top)) for _ in range(4 + level)]

    def solve(self, x: list[tuple[int, int]]) -> list[int]:
        reached = {x[0][0]}
        for _ in x:
            reached |= {b for a, b in x if a in reached}
        return sorted(reached)

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 0 < len(x) <= 30
