import random

from envpool import Environment


class Trail(Environment):
    rule = (
        "Each pair of the input is an arrow from its first to its second number. Start at the first number "
        "of the first pair; always follow the first unused arrow of the input that starts where you are, "
        "until there is none. List the numbers where you stand, the start included."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        top = 3 + level // 2
        return [(rng.randint(1, top), rng.randint(1, top)) for _ in range(4 + level)]

    def solve(self, x: list[tuple[int, int]]) -> list[int]:
        unused, walk = list(x), [x[0][0]]
        while ways := [arrow for arrow in unused if arrow[0] == walk[-1]]:
            unused.remove(ways[0])
            walk.append(ways[0][1])
        return walk

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        return 0 < len(x) <= 15
