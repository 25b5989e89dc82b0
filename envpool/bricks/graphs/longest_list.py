import random

from envpool import Environment


class LongestList(Environment):
    rule = "Give the key of the input whose list has the most numbers; of several the smallest key."

    def sample(self, rng: random.Random, level: int) -> dict[int, list[int]]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 3 + level))
        return {name: rng.sample(names, rng.randint(0, 3)) for name in names}

    def solve(self, x: dict[int, list[int]]) -> int:
        return min(x, key=lambda key: (-len(x[key]), key))

    def accepts(self, x: dict[int, list[int]]) -> bool:
        return 0 < len(x) <= 20
