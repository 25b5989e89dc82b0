import random

from envpool import Environment


class CountHalveOrTriple(Environment):
    rule = (
        "Halve an even number; multiply an odd number by three and add one. Repeat this from the input on "
        "until the number is 1, and count the steps. For 1 itself that is 0 steps."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(3 * 3**level, 20 * 3**level)

    def solve(self, x: int) -> int:
        if x < 1:
            raise ValueError("it never comes to 1")
        steps = 0
        while x != 1:
            x, steps = x // 2 if x % 2 == 0 else 3 * x + 1, steps + 1
        return steps

    def accepts(self, x: int) -> bool:
        return 1 <= x <= 10**5
