import random

from envpool import Environment


class NestBrackets(Environment):
    rule = (
        "For each number of the input list write as many opening round brackets and then as many "
        "closing ones; for 0 write nothing. All together are one text."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 4) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> str:
        return "".join("(" * n + ")" * n for n in x)

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 12 and min(x) >= 0 and 0 < sum(x) <= 30
