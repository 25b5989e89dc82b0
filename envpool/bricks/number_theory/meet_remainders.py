import itertools
import math
import random

from envpool import Environment


class MeetRemainders(Environment):
    rule = (
        "Each pair of the input list is a remainder and a divisor. Give the smallest whole number from 0 "
        "up that leaves, for every pair, that remainder when divided by that divisor."
    )

    def sample(self, rng: random.Random, level: int) -> list[tuple[int, int]]:
        choices = (3, 4, 5, 7) if level % 2 == 0 else (11, 13, 16, 17)
        divisors = rng.sample(choices if level < 5 else (7, 9, 11, 13, 16), 2 + level // 2 + level // 5)
        return [(rng.randint(0, divisor - 1), divisor) for divisor in divisors]

    def solve(self, x: list[tuple[int, int]]) -> int:
        number, step = 0, 1
        for remainder, divisor in x:
            number = next(n for n in range(number, number + step * divisor, step) if n % divisor == remainder)
            step = math.lcm(step, divisor)
        return number

    def accepts(self, x: list[tuple[int, int]]) -> bool:
        pairs = itertools.combinations(x, 2)
        fits = 0 < len(x) <= 5 and all(0 <= remainder < divisor <= 20 for remainder, divisor in x)
        return fits and all(math.gcd(one[1], other[1]) == 1 for one, other in pairs)
