import random

from envpool import Environment


class BothTrue(Environment):
    rule = (
        "Put the two lists of the input side by side and say for each index whether both are true "
        "there. What one list has beyond the end of the other is left out."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[list[bool], list[bool]]:
        first = [rng.random() < 0.7 for _ in range(3 + level)]
        return first, [rng.random() < 0.7 for _ in first]

    def solve(self, x: tuple[list[bool], list[bool]]) -> list[bool]:
        return [a and b for a, b in zip(*x, strict=False)]

    def accepts(self, x: tuple[list[bool], list[bool]]) -> bool:
        return min(map(len, x)) > 0 and max(map(len, x)) <= 20
