import random

from envpool import Environment


class Arrows(Environment):
    rule = (
        "List the pairs of a key of the input and a number of its list: the keys in increasing order, for "
        "each key the numbers in the order of its list."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, list[int]]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 3 + level))
        return {name: rng.sample(names, rng.randint(1, 2)) for name in names}

    def solve(self, x: dict[int, list[int]]) -> list[tuple[int, int]]:
        return [(key, number) for key in sorted(x) for number in x[key]]

    def accepts(self, x: dict[int, list[int]]) -> bool:
        return len(x) <= 20
