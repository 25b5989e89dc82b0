import random

from envpool import Environment


class RowsOfThree(Environment):
    rule = (
        "Cut the input list from the front into rows of three numbers; the last row holds what is left, "
        "so it may be shorter."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(rng.randint(4, 7) + 2 * level)]

    def solve(self, x: list[int]) -> list[list[int]]:
        return [x[start : start + 3] for start in range(0, len(x), 3)]

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30
