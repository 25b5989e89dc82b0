import itertools
import random

from envpool import Environment


class InversionCount(Environment):
    rule = "Count the pairs in the list where the earlier number is larger than the later number."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 9 + 10 * level) for _ in range(3 + 2 * level)]

    def solve(self, x: list[int]) -> int:
        return sum(a > b for a, b in itertools.combinations(x, 2))
