import random

from envpool import Environment


class PlacesOfTrue(Environment):
    rule = "List the indices at which the input list is true, smallest first. The first entry has index 0."

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(5 + 2 * level)]

    def solve(self, x: list[bool]) -> list[int]:
        return [i for i, flag in enumerate(x) if flag]

    def accepts(self, x: list[bool]) -> bool:
        return len(x) <= 25
