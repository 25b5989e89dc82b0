import random

from envpool import Environment

WORDS = """
    art cap card desk fact farm flat foot fox full gray hair kind lady long love map mark neck net
    news open pie play rest road run safe seat shop sit sun tall true view warm wash wet wood yard
"""


class CountKeys(Environment):
    rule = "Count the keys of the input."

    def sample(self, rng: random.Random, level: int) -> dict[str, int]:
        names = [rng.choice(WORDS.split()) for _ in range(rng.randint(1 + level, 4 + 2 * level))]
        return {name: rng.randint(0, 9 + 10 * level) for name in names}

    def solve(self, x: dict[str, int]) -> int:
        return len(x)
