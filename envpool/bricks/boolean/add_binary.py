import random

from envpool import Environment


class AddBinary(Environment):
    rule = (
        "Read each of the two lists of the input as a number in base two: true is 1, false is 0, the "
        "most significant digit first; an empty list is 0. Give the sum of the two numbers."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[bool], list[bool]]:
        first = [rng.random() < 0.5 for _ in range(3 + level)]
        return first, [rng.random() < 0.5 for _ in first]

    def solve(self, x: tuple[list[bool], list[bool]]) -> int:
        return sum(2**i for flags in x for i, flag in enumerate(reversed(flags)) if flag)

    def accepts(self, x: tuple[list[bool], list[bool]]) -> bool:
        return max(map(len, x)) <= 20
