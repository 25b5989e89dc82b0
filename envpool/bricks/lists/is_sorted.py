import itertools
import random

from envpool import Environment


class IsSorted(Environment):
    rule = "Is each number of the input list at least as large as the one before it?"

    def sample(self, rng: random.Random, level: int) -> list[int]:
        numbers = sorted(rng.sample(range(10 + 10 * level), 3 + level))
        if rng.random() < 0.5:
            place = rng.randint(1, 2 + level)
            numbers[place - 1], numbers[place] = numbers[place], numbers[place - 1]
        return numbers

    def solve(self, x: list[int]) -> bool:
        return all(a <= b for a, b in itertools.pairwise(x))

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 0
