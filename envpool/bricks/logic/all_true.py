import random

from envpool import Environment


class AllTrue(Environment):
    rule = "Is every entry of the input list true?"

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        flags = [rng.random() < 0.5 for _ in range(rng.randint(3 + level, 6 + 2 * level))]
        return flags if rng.random() < 0.5 else [True] * len(flags)

    def solve(self, x: list[bool]) -> bool:
        return all(x)

    def accepts(self, x: list[bool]) -> bool:
        return len(x) > 0
