import random

from envpool import Environment


class SideBySide(Environment):
    rule = (
        "Pair the first numbers of the two lists of the input, then their second numbers, and so on until "
        "the shorter list ends; drop the rest of the longer one."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        top = 9 + 5 * level
        a, b = ([rng.randint(0, top) for _ in range(rng.randint(3, 4) + level)] for _ in range(2))
        return a, b

    def solve(self, x: tuple[list[int], list[int]]) -> list[tuple[int, int]]:
        return list(zip(*x, strict=False))

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return len(x[0]) + len(x[1]) <= 40
