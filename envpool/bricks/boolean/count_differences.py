import itertools
import random

from envpool import Environment


class CountDifferences(Environment):
    rule = (
        "Put the two lists of the input side by side and count the indices at which they differ; "
        "entries of one list beyond the end of the other count too."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[bool], list[bool]]:
        first = [rng.random() < 0.5 for _ in range(4 + level)]
        return first, [rng.random() < 0.5 for _ in first]

    def solve(self, x: tuple[list[bool], list[bool]]) -> int:
        return sum(a is not b for a, b in itertools.zip_longest(*x))

    def accepts(self, x: tuple[list[bool], list[bool]]) -> bool:
        return max(map(len, x)) <= 20
