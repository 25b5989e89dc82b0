import random

from envpool import Environment


class TurnAbout(Environment):
    rule = (
        "Take numbers from the two lists of the input in turn, each list from its start, beginning with the "
        "first list. When one list has ended, add the rest of the other. List the numbers in this order."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        top = 9 + 5 * level
        a, b = ([rng.randint(0, top) for _ in range(rng.randint(3, 4) + level)] for _ in range(2))
        return a, b

    def solve(self, x: tuple[list[int], list[int]]) -> list[int]:
        shorter = min(map(len, x))
        paired = [number for pair in zip(*x, strict=False) for number in pair]
        return [*paired, *x[0][shorter:], *x[1][shorter:]]

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return len(x[0]) + len(x[1]) <= 40
