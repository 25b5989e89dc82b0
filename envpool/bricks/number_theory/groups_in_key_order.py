import random

from envpool import Environment


class GroupsInKeyOrder(Environment):
    rule = "Write the lists of the input one after the other as one list, the list of the smallest key first."

    def sample(self, rng: random.Random, level: int) -> dict[int, list[int]]:
        top = 9 + 10 * level
        lengths = [rng.randint(1, 3 + level // 2) for _ in range(2 + level)]
        return {rng.randint(0, top): [rng.randint(0, top) for _ in range(length)] for length in lengths}

    def solve(self, x: dict[int, list[int]]) -> list[int]:
        return [number for key in sorted(x) for number in x[key]]

    def accepts(self, x: dict[int, list[int]]) -> bool:
        return 0 < sum(len(numbers) for numbers in x.values()) <= 60
