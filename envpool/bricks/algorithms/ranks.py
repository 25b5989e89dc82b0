import random

from envpool import Environment


class Ranks(Environment):
    rule = (
        "Replace each number of the input list by the number of entries of the list that are smaller than it."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(4 + level)]

    def solve(self, x: list[int]) -> list[int]:
        return [sum(other < n for other in x) for n in x]

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30
