import random

from envpool import Environment


class Smooth(Environment):
    rule = (
        "For every entry of the input list, say whether at least two are true among it and its two "
        "neighbours. Beyond both ends of the list everything counts as false."
    )

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(5 + 2 * level)]

    def solve(self, x: list[bool]) -> list[bool]:
        wide = [False, *x, False]
        return [sum(wide[i : i + 3]) > 1 for i in range(len(x))]

    def accepts(self, x: list[bool]) -> bool:
        return 0 < len(x) <= 30
