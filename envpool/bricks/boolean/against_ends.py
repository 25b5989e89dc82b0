import random

from envpool import Environment


class AgainstEnds(Environment):
    rule = (
        "Give two lists with an entry for each number of the input list: whether it is larger than "
        "the first number of the input, and whether it is smaller than the last."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> tuple[list[bool], list[bool]]:
        return [n > x[0] for n in x], [n < x[-1] for n in x]

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 10
