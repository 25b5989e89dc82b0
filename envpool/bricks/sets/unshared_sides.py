import random

from envpool import Environment


class UnsharedSides(Environment):
    rule = (
        "Give two lists, each in increasing order without repeats: the numbers that occur only in the first "
        "list of the input, then those that occur only in the second."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        top = 9 + 5 * level
        a, b = ([rng.randint(0, top) for _ in range(rng.randint(3, 4) + level)] for _ in range(2))
        return a, b

    def solve(self, x: tuple[list[int], list[int]]) -> tuple[list[int], list[int]]:
        return sorted(set(x[0]) - set(x[1])), sorted(set(x[1]) - set(x[0]))

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return len(x[0]) + len(x[1]) <= 40
