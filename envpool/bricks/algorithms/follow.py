import random

from envpool import Environment


class Follow(Environment):
    rule = (
        "Start at the smallest key of the input. From a key go to the number that is its value. List "
        "the numbers visited, the first included, until one would come again; a number that is no key "
        "is listed too and ends the walk."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, int]:
        keys = rng.sample(range(1, 12 + 4 * level), 4 + level)
        return dict(zip(sorted(keys), rng.sample(keys, len(keys)), strict=True))

    def solve(self, x: dict[int, int]) -> list[int]:
        visited, n = [], min(x)
        while n not in visited:
            visited.append(n)
            n = x.get(n, n)
        return visited

    def accepts(self, x: dict[int, int]) -> bool:
        return 0 < len(x) <= 20
