import random

from envpool import Environment


class PlacesInFirst(Environment):
    rule = (
        "For each number of the second list of the input, in order, give the place, counted from 1, where "
        "it first stands in the first list; 0 if it does not stand there."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        top = 6 + level
        a, b = ([rng.randint(0, top) for _ in range(number + level)] for number in (5, 3))
        return a, b

    def solve(self, x: tuple[list[int], list[int]]) -> list[int]:
        return [x[0].index(number) + 1 if number in x[0] else 0 for number in x[1]]

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return len(x[0]) + len(x[1]) <= 40
