import random

from envpool import Environment

WORDS = """
    add arm be bell box bus corn dark dish down earth field frog full goat grass green ham head
    heart heat ice idea image in lime line luck name neck party plant radar radio rest safe salt
    toast top truck van warm wolf word
"""


class Ranking(Environment):
    rule = (
        "List the keys of the input with their values as pairs, the largest value first; of equal "
        "values the key that comes first in the alphabet."
    )

    def sample(self, rng: random.Random, level: int) -> dict[str, int]:
        return {name: rng.randint(0, 5 + 10 * level) for name in rng.sample(WORDS.split(), 2 + level)}

    def solve(self, x: dict[str, int]) -> list[tuple[str, int]]:
        return sorted(x.items(), key=lambda item: (-item[1], item[0]))

    def accepts(self, x: dict[str, int]) -> bool:
        return 0 < len(x) <= 12 and all(name.isalpha() and name.islower() for name in x)
