import random

from envpool import Environment


class RainWater(Environment):
    rule = (
        "The numbers of the input list are heights of walls in a row. Over each, water stands up to "
        "the smaller of two heights: the largest from it to the left end and the largest from it to "
        "the right end, itself included. Add up how far the water stands above the walls."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 7 + 2 * level) for _ in range(6 + 2 * level)]

    def solve(self, x: list[int]) -> int:
        return sum(min(max(x[: i + 1]), max(x[i:])) - n for i, n in enumerate(x))

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30 and min(x) >= 0
