import random

from envpool import Environment


class WriteOutTally(Environment):
    rule = (
        "Go through the keys of the input from the smallest to the largest and list each as often as "
        "its value says; a value of 0 or less lists nothing."
    )

    def sample(self, rng: random.Random, level: int) -> dict[int, int]:
        return {n: rng.choice((0, 1, 1, 2, 3)) for n in rng.sample(range(1, 20 + level), 4 + level)}

    def solve(self, x: dict[int, int]) -> list[int]:
        return [n for n in sorted(x) for _ in range(x[n])]

    def accepts(self, x: dict[int, int]) -> bool:
        return len(x) <= 20 and sum(max(0, count) for count in x.values()) <= 30
