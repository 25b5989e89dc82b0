import random

from envpool import Environment


class WriteBinary(Environment):
    rule = (
        "Write the input in base two, with the most significant digit first and without leading "
        "zeros, as text; 0 is written 0."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(2 ** (4 + 2 * level), 2 ** (6 + 2 * level))

    def solve(self, x: int) -> str:
        return f"{x:b}"

    def accepts(self, x: int) -> bool:
        return 0 <= x < 2**40
