import random

from envpool import Environment


class FaceSizes(Environment):
    rule = "The input is (a, b, c). List the pairs (a, b), (b, c) and (a, c), in this order."

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int]:
        top = 9 * 5**level
        return rng.randint(0, top), rng.randint(0, top), rng.randint(0, top)

    def solve(self, x: tuple[int, int, int]) -> list[tuple[int, int]]:
        a, b, c = x
        return [(a, b), (b, c), (a, c)]
