import random

from envpool import Environment


class GroupByRemainder(Environment):
    rule = (
        "Group the numbers of the input list by their remainder, 0, 1 or 2, when divided by three. For each "
        "remainder that occurs give the numbers that have it, in their order in the input."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(4 + level)]

    def solve(self, x: list[int]) -> dict[int, list[int]]:
        groups: dict[int, list[int]] = {}
        for number in x:
            groups.setdefault(number % 3, []).append(number)
        return groups

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30
