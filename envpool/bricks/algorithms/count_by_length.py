import random

from envpool import Environment

WORDS = """
    bag bed boat box car coat dish fall field foot fur girl go heat juice jump lady land list
    map me of open path pen race rug run shoe shop sing sit size soft stop swim tiger tower
    truck up wall wet word yard
"""


class CountByLength(Environment):
    rule = "For each length that occurs among the entries of the input list, give how many entries have it."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) + rng.choice(("", "s", "er", "ing")) for _ in range(4 + level)]

    def solve(self, x: list[str]) -> dict[int, int]:
        lengths = sorted(map(len, x))
        return {length: lengths.count(length) for length in lengths}

    def accepts(self, x: list[str]) -> bool:
        return 0 < len(x) <= 30
