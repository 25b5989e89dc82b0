import random

from envpool import Environment


class LeapYear(Environment):
    rule = (
        "Is the input the number of a leap year? 4 must divide it; and if 100 divides it, 400 must too. "
        "Signs make no difference."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        number = rng.randint(10**level, 10 ** (level + 1) - 1)
        return number * rng.choice((1, 1, 4, 100, 100, 400))

    def solve(self, x: int) -> bool:
        return x % 4 == 0 and (x % 100 != 0 or x % 400 == 0)
