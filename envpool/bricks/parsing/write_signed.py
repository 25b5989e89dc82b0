import random

from envpool import Environment


class WriteSigned(Environment):
    rule = (
        "Write the numbers of the input list one after the other without spaces, each with its sign "
        "in front, + or -. Zero is written +0."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(-9 - 20 * level, 9 + 20 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> str:
        return "".join(f"{n:+d}" for n in x)

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 12 and all(abs(n) <= 99999 for n in x)
