import itertools
import random

from envpool import Environment


class GrayCode(Environment):
    rule = (
        "The input consists of the digits 0 and 1. Keep the first one. Write 1 for every other digit "
        "that differs from the digit just before it in the input, and 0 for one that does not."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return "".join(rng.choice("01") for _ in range(5 + 2 * level))

    def solve(self, x: str) -> str:
        return x[:1] + "".join("01"[a != b] for a, b in itertools.pairwise(x))

    def accepts(self, x: str) -> bool:
        return 0 < len(x) <= 50 and set(x) <= set("01")
