import random

from envpool import Environment


class ProductsOfTwo(Environment):
    rule = (
        "Make a row for every number of the first list of the input, in order: this number times every "
        "number of the second list, in order. Give the list of the rows."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        top = 9 + 10 * level
        first = [rng.randint(0, top) for _ in range(2 + level // 2)]
        return first, [rng.randint(0, top) for _ in range(2 + (level + 1) // 2)]

    def solve(self, x: tuple[list[int], list[int]]) -> list[list[int]]:
        return [[a * b for b in x[1]] for a in x[0]]

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return 0 < len(x[0]) <= 6 and 0 < len(x[1]) <= 6
