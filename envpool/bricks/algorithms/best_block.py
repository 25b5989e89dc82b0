import random

from envpool import Environment


class BestBlock(Environment):
    rule = "Give the largest sum of a block of one or more neighbouring numbers of the input list."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        top = 9 + 10 * level
        return [-rng.randint(1, top), *(rng.randint(-top, top) for _ in range(4 + level))]

    def solve(self, x: list[int]) -> int:
        best = ending = x[0]
        for n in x[1:]:
            ending = max(ending + n, n)
            best = max(best, ending)
        return best

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30 and min(x) < 0
