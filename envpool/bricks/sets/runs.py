import random

from envpool import Environment


class Runs(Environment):
    rule = (
        "Join the different numbers of the input list into runs that are as long as possible and increase "
        "by one. List the first and last number of each run as a pair, in increasing order; a lone number "
        "gives (n, n)."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 8 + 3 * level) for _ in range(6 + level)]

    def solve(self, x: list[int]) -> list[tuple[int, int]]:
        starts = sorted(n for n in set(x) if n - 1 not in x)
        ends = sorted(n for n in set(x) if n + 1 not in x)
        return list(zip(starts, ends, strict=True))

    def accepts(self, x: list[int]) -> bool:
        return len(x) <= 30
