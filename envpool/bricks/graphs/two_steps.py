import random

from envpool import Environment


class TwoSteps(Environment):
    rule = (
        "Each pair of the input is an arrow from its first number to its second. List as pairs, without "
        "repeats, the start and the end of every way made of two arrows, one after the other; sort them by "
        "start, then by end. One arrow may be both if its numbers are equal."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 4 + level
        return [(rng.randint(1, top), rng.randint(1, top)) for _ in range(4 + level)]

    def solve(self, x: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return sorted({(a, d) for a, b in x for c, d in x if b == c})

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) <= 12
