import random

from envpool import Environment


class OddTrues(Environment):
    rule = "Is the number of true entries in the input list odd?"

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(rng.randint(3 + level, 6 + 2 * level))]

    def solve(self, x: list[bool]) -> bool:
        return sum(x) % 2 == 1

    def accepts(self, x: list[bool]) -> bool:
        return len(x) > 0
