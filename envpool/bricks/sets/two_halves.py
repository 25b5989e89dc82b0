import random

from envpool import Environment


class TwoHalves(Environment):
    rule = (
        "Give two lists: the first half of the input list and the rest, both in order; if its length is "
        "odd, the middle number belongs to the first half."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 5 * level) for _ in range(5 + level)]

    def solve(self, x: list[int]) -> tuple[list[int], list[int]]:
        middle = (len(x) + 1) // 2
        return x[:middle], x[middle:]

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 30
