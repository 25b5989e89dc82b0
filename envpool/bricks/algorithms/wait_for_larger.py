import random

from envpool import Environment


class WaitForLarger(Environment):
    rule = (
        "For each number of the input list, say how many places after it the first number stands that "
        "is larger than it, 1 for the very next place; 0 if no later number is larger."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(0, 9 + 10 * level) for _ in range(4 + level)]

    def solve(self, x: list[int]) -> list[int]:
        waits = []
        for i, n in enumerate(x):
            waits.append(next((j - i for j in range(i + 1, len(x)) if x[j] > n), 0))
        return waits

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30
