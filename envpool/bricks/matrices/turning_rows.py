import random

from envpool import Environment


class TurningRows(Environment):
    rule = (
        "Make a table of as many rows as the input list has numbers. The first row is the input; every "
        "further row is the row above with its last number moved to the front."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(3 + level // 2)]

    def solve(self, x: list[int]) -> list[list[int]]:
        return [x[len(x) - turn :] + x[: len(x) - turn] for turn in range(len(x))]

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 6
