import random

from envpool import Environment


class TwoSteps(Environment):
    rule = (
        "Each pair of the input is an arrow from its first to its second number. List the pairs (a, c) such "
        "that for some b there are arrows (a, b) and (b, c), maybe the same; each once, sorted by a, then "
        "by c."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 4 + level
        return [(rng.randint(1, top), rng.randint(1, top)) for _ in range(4 + level)]

    def solve(self, x: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return sorted({(a, d) for a, b in x for c, d in x if b == c})

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) <= 12
