import random

from envpool import Environment


class RunningParity(Environment):
    rule = (
        "For every entry of the input list, say whether the number of true entries up to and "
        "including it is odd."
    )

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(5 + 2 * level)]

    def solve(self, x: list[bool]) -> list[bool]:
        return [sum(x[: i + 1]) % 2 == 1 for i in range(len(x))]

    def accepts(self, x: list[bool]) -> bool:
        return 0 < len(x) <= 30
