import random

from envpool import Environment

WORDS = """
    add age art bad ball bat book cake camp date easy end fast fat fire flag hair hat head horn jump
    lamp lion love milk mind oak open park pen road roof sad skin van walk wall yard year zoo
"""


class TotalValues(Environment):
    rule = "Add up the values of the input."

    def sample(self, rng: random.Random, level: int) -> dict[str, int]:
        names = [rng.choice(WORDS.split()) for _ in range(2 + level)]
        return {name: rng.randint(0, 9 + 10 * level) for name in names}

    def solve(self, x: dict[str, int]) -> int:
        return sum(x.values())

    def accepts(self, x: dict[str, int]) -> bool:
        return len(x) > 0
