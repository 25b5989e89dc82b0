import random

from envpool import Environment


class CountingOut(Environment):
    rule = (
        "People numbered from 1 to the first number of the input stand in a ring. Count from person 1; "
        "whoever gets the second number leaves, and counting starts again with 1 at the next. List the "
        "people in the order they leave."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        return rng.randint(3 + 2 * level, 5 + 2 * level), rng.randint(1 + level, 5 + 9 * level)

    def solve(self, x: tuple[int, int]) -> list[int]:
        ring, order, at = list(range(1, x[0] + 1)), [], 0
        while ring:
            at = (at + x[1] - 1) % len(ring)
            order.append(ring.pop(at))
        return order

    def accepts(self, x: tuple[int, int]) -> bool:
        return 0 < x[0] <= 20 and 0 < x[1] <= 1000
