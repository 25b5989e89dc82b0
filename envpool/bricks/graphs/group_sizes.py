import random

from envpool import Environment


class GroupSizes(Environment):
    rule = (
        "Each pair of the input is an edge. Numbers joined directly or through others form a group. List "
        "how many different numbers each group has, the largest first."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 7 + level
        return [(rng.randint(1, top), rng.randint(1, top)) for _ in range(4 + level)]

    def solve(self, x: list[tuple[int, int]]) -> list[int]:
        groups: list[set[int]] = []
        for edge in x:
            touched = [group for group in groups if group & set(edge)]
            groups = [group for group in groups if group not in touched] + [set(edge).union(*touched)]
        return sorted((len(group) for group in groups), reverse=True)

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return len(x) <= 30
