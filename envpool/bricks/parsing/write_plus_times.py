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
        signs = ["", *("+*"[i % 2] for i in range(len(x) - 1))]
        return "".join(sign + str(n) for sign, n in zip(signs, x, strict=True))

    def accepts(self, x: list[int]) -> bool:
        return 1 < len(x) <= 10 and all(0 <= n <= 999 for n in x)
