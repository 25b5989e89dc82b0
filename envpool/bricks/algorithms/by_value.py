import random

from envpool import Environment


class ByValue(Environment):
    rule = (
        "List the keys of the input from the one with the largest value to the one with the smallest; "
        "of equal values the smaller key comes first."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, int]:
        return {n: rng.randint(0, 9 + 10 * level) for n in rng.sample(range(1, 40), 3 + level)}

    def solve(self, x: dict[int, int]) -> list[int]:
        return sorted(x, key=lambda n: (-x[n], n))

    def accepts(self, x: dict[int, int]) -> bool:
        return 0 < len(x) <= 20
