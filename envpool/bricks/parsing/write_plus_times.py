import random

from envpool import Environment


class WritePlusTimes(Environment):
    rule = (
        "Write the numbers of the input list with signs between them and no spaces: a plus sign "
        "first, then a star, then a plus sign again, and so on in turn."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 9 + 10 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> str:
        return "".join(f"{'*+'[i % 2] if i else ''}{n}" for i, n in enumerate(x))

    def accepts(self, x: list[int]) -> bool:
        return 1 < len(x) <= 10 and all(0 <= n <= 999 for n in x)
