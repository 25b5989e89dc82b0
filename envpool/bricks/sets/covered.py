import random

from envpool import Environment


class Covered(Environment):
    rule = (
        "Each pair of the input stands for all whole numbers from its smaller to its larger number, both "
        "included. Count the different whole numbers in at least one pair."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 9 + 5 * level
        return [(rng.randint(0, top), rng.randint(0, top)) for _ in range(2 + level)]

    def solve(self, x: list[tuple[int, int]]) -> int:
        return len({n for a, b in x for n in range(min(a, b), max(a, b) + 1)})

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) <= 30 and all(abs(a - b) <= 1000 for a, b in x)
