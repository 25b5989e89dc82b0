import itertools
import random

from envpool import Environment


class LookAndSay(Environment):
    rule = (
        "The input is not negative. Cut its digits into runs of the same digit, each as long as possible. Write "
        "for each run its length and then its digit; read all together as one number: 3311 becomes 2321."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return int("".join(rng.choice("12345") * rng.randint(1, 3) for _ in range(2 + level)))

    def solve(self, x: int) -> int:
        return int("".join(f"{len(list(run))}{digit}" for digit, run in itertools.groupby(str(x))))

    def accepts(self, x: int) -> bool:
        return 0 <= x < 10**30
