import random

from envpool import Environment


class LargerAtEachPlace(Environment):
    rule = (
        "The input holds two lists of equal length. For each place, from the first, say whether the "
        "number of the first list is larger than the number of the second."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        size, top = 3 + level, 9 + 10 * level
        return [rng.randint(0, top) for _ in range(size)], [rng.randint(0, top) for _ in range(size)]

    def solve(self, x: tuple[list[int], list[int]]) -> list[bool]:
        return [a > b for a, b in zip(*x, strict=True)]

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return 0 < len(x[0]) == len(x[1]) <= 20
