import random

from envpool import Environment


class SumOfEachGroup(Environment):
    rule = "For each key of the input give the sum of the numbers in its list. The sum of an empty list is 0."

    def sample(self, rng: random.Random, level: int) -> dict[int, list[int]]:
        top = 9 + 10 * level
        lengths = [rng.randint(1, 3 + level // 2) for _ in range(2 + level)]
        return {rng.randint(0, top): [rng.randint(0, top) for _ in range(length)] for length in lengths}

    def solve(self, x: dict[int, list[int]]) -> dict[int, int]:
        return {key: sum(numbers) for key, numbers in x.items()}

    def accepts(self, x: dict[int, list[int]]) -> bool:
        return 0 < len(x) <= 30
