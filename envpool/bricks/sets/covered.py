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
        count, reached = 0, None
        for low, high in sorted((min(pair), max(pair)) for pair in x):
            first = low if reached is None else max(low, reached + 1)
            count += max(0, high - first + 1)
            reached = max(high, first - 1)
        return count

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) <= 30
