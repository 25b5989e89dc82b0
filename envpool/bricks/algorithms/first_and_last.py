import random

from envpool import Environment

WORDS = """
    bath bone book by call clay cold cow eagle fan farm field fox free game good gray gym head
    home iron jump kid kind light lime lost milk month neck olive panda park room sand sheep so
    truck wall way west wing wood world
"""


class FirstAndLast(Environment):
    rule = "Take the first and the last entry of the input list, and give these two in alphabetical order."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(3 + level)]

    def solve(self, x: list[str]) -> tuple[str, str]:
        first, last = sorted((x[0], x[-1]))
        return first, last

    def accepts(self, x: list[str]) -> bool:
        return 0 < len(x) <= 30 and all(word.isalpha() and word.islower() for word in x)
