import random

from envpool import Environment


class AllPairs(Environment):
    rule = (
        "List all pairs of a number from the first list of the input and one from the second, repeats "
        "included: in the order of the first list, then of the second."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], list[int]]:
        top = 9 + 5 * level
        a, b = (
            [rng.randint(0, top) for _ in range(rng.randint(1 + (level + 1) // 2, 2 + level))]
            for _ in range(2)
        )
        return a, b

    def solve(self, x: tuple[list[int], list[int]]) -> list[tuple[int, int]]:
        return [(a, b) for a in x[0] for b in x[1]]

    def accepts(self, x: tuple[list[int], list[int]]) -> bool:
        return len(x[0]) * len(x[1]) <= 60
