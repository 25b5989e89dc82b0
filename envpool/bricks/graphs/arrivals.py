import random

from envpool import Environment


class Arrivals(Environment):
    rule = "For every key of the input, give how often it occurs in all the lists together."

    def sample(self, rng: random.Random, level: int) -> dict[int, list[int]]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 3 + level))
        return {name: rng.sample(names, rng.randint(0, 3)) for name in names}

    def solve(self, x: dict[int, list[int]]) -> dict[int, int]:
        return {key: sum(ends.count(key) for ends in x.values()) for key in x}

    def accepts(self, x: dict[int, list[int]]) -> bool:
        return len(x) <= 20
