import random

from envpool import Environment


class Hop(Environment):
    rule = (
        "Start at the first number of the input list. Move right by as many places as the number you "
        "stand on says, again and again, until you leave the list. List the numbers you stood on."
    )

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 4) for _ in range(7 + 3 * level)]

    def solve(self, x: list[int]) -> list[int]:
        numbers, i = [], 0
        while i < len(x):
            numbers.append(x[i])
            if x[i] < 1:
                raise ValueError("it never leaves the list")
            i += x[i]
        return numbers

    def accepts(self, x: list[int]) -> bool:
        return 0 < len(x) <= 30 and min(x) > 0
