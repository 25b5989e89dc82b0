import random

from envpool import Environment


class InAllRows(Environment):
    rule = "List every number that occurs in all rows of the input, each once, in increasing order."

    def sample(self, rng: random.Random, level: int) -> list[list[int]]:
        shared = rng.sample(range(10 + 5 * level), rng.randint(1, 3))
        rows = [shared + [rng.randrange(10 + 5 * level) for _ in range(2)] for _ in range(2 + level)]
        return [rng.sample(row, len(row)) for row in rows]

    def solve(self, x: list[list[int]]) -> list[int]:
        return sorted(set(x[0]).intersection(*x))

    def accepts(self, x: list[list[int]]) -> bool:
        return 0 < len(x) <= 10
