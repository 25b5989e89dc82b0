import random

from envpool import Environment


class Tally(Environment):
    rule = "For each different number of the input list, give how often it occurs."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 5 + level) for _ in range(5 + 2 * level)]

    def solve(self, x: list[int]) -> dict[int, int]:
        return {n: x.count(n) for n in sorted(x)}

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 25
