import random

from envpool import Environment


class BouncingBall(Environment):
    rule = (
        "A ball starts at place 0 and moves one place a second, turning around at place L, at 0, and so on; "
        "L is the first number of the input. At which place is it after as many seconds as the second "
        "number says?"
    )

    def sample(self, rng: random.Random, level: int) -> tuple[int, int]:
        length = rng.randint(10**level, 10 ** (level + 1) - 1)
        return length, rng.randint(10**level, 10 ** (level + 1) * 2)

    def solve(self, x: tuple[int, int]) -> int:
        if x[0] == 0:
            return 0
        place = x[1] % (2 * x[0])
        return min(place, 2 * x[0] - place)

    def accepts(self, x: tuple[int, int]) -> bool:
        return x[0] > 0 and x[1] >= 0
