import random

from envpool import Environment

WORDS = """
    aim arm book clay cup day dust ear face fast flat food gate gift goat home mark neck nest net
    nice oil pet pink ride sad safe seed ship skin sock soup tail tall tea tent time walk wave wind
"""


class AddOneValues(Environment):
    rule = "Add one to every value of the input."

    def sample(self, rng: random.Random, level: int) -> dict[str, int]:
        names = [rng.choice(WORDS.split()) for _ in range(2 + level)]
        return {name: rng.randint(0, 9 + 10 * level) for name in names}

    def solve(self, x: dict[str, int]) -> dict[str, int]:
        return {key: value + 1 for key, value in x.items()}

    def accepts(self, x: dict[str, int]) -> bool:
        return len(x) > 0
