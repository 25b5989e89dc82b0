import random

from envpool import Environment

WORDS = """
    age arm bed cake calm city code cold cool east fire flag food fox free frog gate gold help hill
    hot joke kite log name neck news nut oven pig race rich run salt sky song stop team tree zoo
"""


class ValuesByKey(Environment):
    rule = "List the values of the input in alphabetical order of their keys."

    def sample(self, rng: random.Random, level: int) -> dict[str, int]:
        names = [rng.choice(WORDS.split()) for _ in range(2 + level)]
        return {name: rng.randint(0, 9 + 10 * level) for name in names}

    def solve(self, x: dict[str, int]) -> list[int]:
        return [x[key] for key in sorted(x)]

    def accepts(self, x: dict[str, int]) -> bool:
        return len(x) > 0 and all(key.isalpha() and key.islower() for key in x)
