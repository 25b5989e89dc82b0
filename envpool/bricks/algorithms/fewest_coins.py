import random

from envpool import Environment


class FewestCoins(Environment):
    rule = (
        "There are coins of 1, 5, 7 and 12, as many of each as wanted. Give the fewest coins that "
        "make exactly the input; for 0 it is 0."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(
            (4, 10, 40, 100, 200, 1000)[min(level, 5)], (30, 99, 200, 400, 1500, 3000)[min(level, 5)]
        )

    def solve(self, x: int) -> int:
        # Coins below 12 make 77 at most: among twelve of them some make a multiple of 12, with fewer coins as twelves.
        twelves = max(0, x - 77) // 12
        fewest = [0]
        for amount in range(1, x - 12 * twelves + 1):
            fewest.append(1 + min(fewest[amount - coin] for coin in (1, 5, 7, 12) if coin <= amount))
        return twelves + fewest[x - 12 * twelves]

    def accepts(self, x: int) -> bool:
        return 0 <= x <= 10**15
