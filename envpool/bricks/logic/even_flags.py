import random

from envpool import Environment


class EvenFlags(Environment):
    rule = "For each number of the input list, say whether it is even."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(3 + level)]

    def solve(self, x: list[int]) -> list[bool]:
        return [n % 2 == 0 for n in x]

    def accepts(self, x: list[int]) -> bool:
        return len(x) > 0
