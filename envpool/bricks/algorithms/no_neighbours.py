import random

from envpool import Environment


class NoNeighbours(Environment):
    rule = (
        "Choose numbers of the input list, none or more, but never two that stand next to each other. "
        "Give the largest sum possible; choosing none gives 0."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(5 + level)]

    def solve(self, x: list[int]) -> int:
        without = best = 0
        for n in x:
            without, best = best, max(best, without + n)
        return best

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30
