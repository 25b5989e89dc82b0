import random

from envpool import Environment


class SortByLastDigit(Environment):
    rule = (
        "Sort the numbers by their last digit, smallest first. "
        "Where last digits are equal, the smaller number first."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 40 * level) for _ in range(2 + 2 * level)]

    def solve(self, x: list[int]) -> list[int]:
        return sorted(x, key=lambda number: (abs(number) % 10, number))
