import random

from envpool import Environment


class TakeAway(Environment):
    rule = (
        "Start with the first list of the input. For each number of the second list, in order, remove the "
        "first number still there that is equal to it, if any. Give what is left."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        top = 4 + level
        a, b = ([rng.randint(0, top) for _ in range(number + level)] for number in (5, 3))
        return a, b

    def solve(self, x: tuple[list[int], list[int]]) -> list[int]:
        left = list(x[0])
        for number in x[1]:
            if number in left:
                left.remove(number)
        return left

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return len(x[0]) + len(x[1]) <= 40
