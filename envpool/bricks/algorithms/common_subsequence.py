import random

from envpool import Environment


class CommonSubsequence(Environment):
    rule = (
        "Strike out numbers in both lists of the input until the same list is left of each, in its "
        "own order. Give the largest number of numbers that can be left."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        first = [rng.randint(1, 6 + level) for _ in range(4 + 2 * level)]
        return first, [rng.randint(1, 6 + level) for _ in range(4 + 2 * level)]

    def solve(self, x: tuple[list[int], list[int]]) -> int:
        first, second = x
        row = [0] * (len(second) + 1)
        for a in first:
            new = [0]
            for i, b in enumerate(second):
                new.append(row[i] + 1 if a == b else max(row[i + 1], new[i]))
            row = new
        return row[-1]

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return max(map(len, x)) <= 30
