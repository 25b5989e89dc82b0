import random

from envpool import Environment


class PairsByKey(Environment):
    rule = "List each key of the input with its value as a pair, the smallest key first."

    def sample(self, rng: random.Random, level: int) -> dict[int, int]:
        top = 9 + 10 * level
        return {rng.randint(1, top): rng.randint(0, top) for _ in range(3 + level)}

    def solve(self, x: dict[int, int]) -> list[tuple[int, int]]:
        return sorted(x.items())

    def accepts(self, x: dict[int, int]) -> bool:
        return 0 < len(x) <= 30
