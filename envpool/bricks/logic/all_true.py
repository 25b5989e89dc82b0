import random

from envpool import Environment


class AllTrue(Environment):
    rule = "Is every entry of the input list true?"

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        flags = [True] * rng.randint(4 + 2 * level, 7 + 2 * level)
        if rng.random() < 0.5:
            for place in rng.sample(range(1, len(flags) - 1), rng.randint(1, 2)):
                flags[place] = False
        return flags

    def solve(self, x: list[bool]) -> bool:
        return all(x)

    def accepts(self, x: list[bool]) -> bool:
        return len(x) > 0
