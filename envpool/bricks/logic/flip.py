import random

from envpool import Environment


class Flip(Environment):
    rule = "Turn every true of the input list into false and every false into true."

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(rng.randint(3 + level, 6 + 2 * level))]

    def solve(self, x: list[bool]) -> list[bool]:
        return [not flag for flag in x]

    def accepts(self, x: list[bool]) -> bool:
        return len(x) > 0
