import random

from envpool import Environment


class MovesToPoint(Environment):
    rule = (
        "Start at the point (0, 0) and read the input character by character: R adds one to x, L "
        "subtracts one from x, U adds one to y, D subtracts one from y; anything else changes nothing. "
        "Give the last point as (x, y)."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return "".join(rng.choices("RLUD", k=rng.randint(4, 7) + 3 * level))

    def solve(self, x: str) -> tuple[int, int]:
        return x.count("R") - x.count("L"), x.count("U") - x.count("D")

    def accepts(self, x: str) -> bool:
        return 0 < len(x) <= 80
