import random

from envpool import Environment


class Overlap(Environment):
    rule = (
        "Give a pair: how many different numbers occur in both lists of the input, then how many different "
        "numbers occur in at least one of them."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        top = 7 + 2 * level
        a, b = ([rng.randint(0, top) for _ in range(5 + level)] for _ in range(2))
        return a, b

    def solve(self, x: tuple[list[int], list[int]]) -> tuple[int, int]:
        return len(set(x[0]) & set(x[1])), len({*x[0], *x[1]})

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return len(x[0]) + len(x[1]) <= 40
