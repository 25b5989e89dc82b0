import math
import random

from envpool import Environment


class LeastCommonMultiple(Environment):
    rule = (
        "Give the smallest whole number above zero that can be divided without remainder by each number "
        "of the input pair."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        common = rng.randint(3**level, 4 * 3**level)
        return common * rng.randint(2, 9), common * rng.randint(2, 9)

    def solve(self, x: tuple[int, int]) -> int:
        return math.lcm(*x)

    def accepts(self, x: tuple[int, int]) -> bool:
        return all(0 < n <= 10**6 for n in x)
