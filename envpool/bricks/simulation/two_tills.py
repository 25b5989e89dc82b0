import random

from envpool import Environment


class TwoTills(Environment):
    rule = (
        "Each number of the input list, in order, goes to that of two tills whose numbers so far have the "
        "smaller sum, to the first if equal. Give the numbers of the first till and those of the second, in "
        "order."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 9 + 5 * level) for _ in range(4 + level)]

    def solve(self, x: list[int]) -> tuple[list[int], list[int]]:
        first: list[int] = []
        second: list[int] = []
        for number in x:
            (first if sum(first) <= sum(second) else second).append(number)
        return first, second

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 30
