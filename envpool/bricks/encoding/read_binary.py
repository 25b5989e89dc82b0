import random

from envpool import Environment


class ReadBinary(Environment):
    rule = (
        "Read the input as a whole number in base two, with the most significant digit first. Leading "
        "zeros change nothing."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return "".join(rng.choice("01") for _ in range(4 + 2 * level))

    def solve(self, x: str) -> int:
        return int(x, 2)

    def accepts(self, x: str) -> bool:
        return 0 < len(x) <= 30 and set(x) <= set("01")
