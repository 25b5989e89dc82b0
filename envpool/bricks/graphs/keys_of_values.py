import random

from envpool import Environment


class KeysOfValues(Environment):
    rule = "For every value that occurs in the input, list the keys that have it, in increasing order."

    def sample(self, rng: random.Random, level: int) -> dict[int, int]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 4 + level))
        return {name: rng.randint(1, 3 + level) for name in names}

    def solve(self, x: dict[int, int]) -> dict[int, list[int]]:
        return {value: sorted(key for key in x if x[key] == value) for value in x.values()}

    def accepts(self, x: dict[int, int]) -> bool:
        return len(x) <= 20
