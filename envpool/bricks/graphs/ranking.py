import random

from envpool import Environment


class Ranking(Environment):
    rule = (
        "List the keys of the input with their values as pairs (key, value), the largest value first; of "
        "equal values the smaller key first."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, int]:
        names = sorted(rng.sample(range(1, 10 + 5 * level), 4 + level))
        return {name: rng.randint(1, 4 + level) for name in names}

    def solve(self, x: dict[int, int]) -> list[tuple[int, int]]:
        return sorted(x.items(), key=lambda item: (-item[1], item[0]))

    def accepts(self, x: dict[int, int]) -> bool:
        return len(x) <= 20
