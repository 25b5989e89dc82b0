import random

from envpool import Environment


class Halves(Environment):
    rule = (
        "Cut the input list into two lists: its first half and its second half, in order. If the "
        "number of entries is odd, the middle one belongs to the first half."
    )

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(4 + 2 * level)]

    def solve(self, x: list[bool]) -> tuple[list[bool], list[bool]]:
        half = (len(x) + 1) // 2
        return x[:half], x[half:]

    def accepts(self, x: list[bool]) -> bool:
        return 1 < len(x) <= 20
