import random

from envpool import Environment

WORDS = """
    ant big bike call city coat cook dark dish down easy fall farm food free game hair heat horn kid
    long name nest nose pink plan poem pot ride safe salt sand soft tent top true warm week word zoo
"""


class SortedKeys(Environment):
    rule = "List the keys of the input in alphabetical order."

    def sample(self, rng: random.Random, level: int) -> dict[str, int]:
        names = [rng.choice(WORDS.split()) for _ in range(2 + level)]
        return {name: rng.randint(0, 9 + 10 * level) for name in names}

    def solve(self, x: dict[str, int]) -> list[str]:
        return sorted(x)

    def accepts(self, x: dict[str, int]) -> bool:
        return len(x) > 0 and all(key.isalpha() and key.islower() for key in x)
