import random

from envpool import Environment


class Gaps(Environment):
    rule = (
        "List in increasing order the whole numbers that lie between the smallest and the largest number of "
        "the input list but do not occur in it."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        start = rng.randint(0, 9 * (1 + level))
        return [start + rng.randint(0, 8 + level) for _ in range(4 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return [n for n in range(min(x, default=0), max(x, default=0)) if n not in x]

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30 and max(x) - min(x) <= 40
