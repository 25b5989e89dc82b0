import random

from envpool import Environment


class JoinNumbers(Environment):
    rule = "Write the numbers of the input list with dashes between them, as text."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> str:
        return "-".join(str(n) for n in x)

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30
