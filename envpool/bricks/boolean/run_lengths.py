import itertools
import random

from envpool import Environment


class RunLengths(Environment):
    rule = (
        "Cut the input list into runs of equal entries, each as long as possible, and list the "
        "lengths of the runs in order."
    )

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(6 + 2 * level)]

    def solve(self, x: list[bool]) -> list[int]:
        return [len(list(run)) for _, run in itertools.groupby(x)]

    def accepts(self, x: list[bool]) -> bool:
        return 0 < len(x) <= 25
