import random

from envpool import Environment


class HasRightAngle(Environment):
    rule = "Do the squares of the two smaller numbers of the input add up to the square of the largest?"

    def sample(self, rng: random.Random, level: int) -> tuple[int, int, int]:
        sides = rng.choice(((3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29)))
        times = rng.randint(4**level, 4 * 4**level)
        a, b, c = (times * side for side in sides)
        if rng.random() < 0.5:
            c += rng.choice((-1, 1)) * rng.randint(1, times)
        return tuple(rng.sample((a, b, c), 3))

    def solve(self, x: tuple[int, int, int]) -> bool:
        small, middle, large = sorted(x)
        return small * small + middle * middle == large * large

    def accepts(self, x: tuple[int, int, int]) -> bool:
        return min(x) >= 0 and max(x) <= 10**9
