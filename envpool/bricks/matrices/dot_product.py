import random

from envpool import Environment


class DotProduct(Environment):
    rule = (
        "The input holds two lists of equal length. Multiply their first numbers, their second numbers "
        "and so on, and add up the products."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        size, top = 2 + level // 2, 9 + 10 * level
        return [rng.randint(0, top) for _ in range(size)], [rng.randint(0, top) for _ in range(size)]

    def solve(self, x: tuple[list[int], list[int]]) -> int:
        return sum(a * b for a, b in zip(*x, strict=True))

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return 0 < len(x[0]) == len(x[1]) <= 20
