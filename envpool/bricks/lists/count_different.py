import random

from envpool import Environment


class CountDifferent(Environment):
    rule = "Count the different numbers of the input list; repeated ones count once."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        kinds = rng.randint(1, 5 + 2 * level)
        return [rng.randint(1, kinds) for _ in range(4 + level)]

    def solve(self, x: list[int]) -> int:
        return len(dict.fromkeys(x))

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 0
