import random

from envpool import Environment


class EvensAndOdds(Environment):
    rule = (
        "Give two lists: the even numbers of the input list and the odd ones, each in the order of "
        "the input. 0 is even."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(5 + level)]

    def solve(self, x: list[int]) -> tuple[list[int], list[int]]:
        return [n for n in x if n % 2 == 0], [n for n in x if n % 2]

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30
