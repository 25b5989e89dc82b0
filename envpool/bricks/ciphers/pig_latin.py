import random

from envpool import Environment

WORDS = """
    base be bell bird body bread bus camp cat echo field go grass gray horn house idea jam lemon
    life lion lost mark net night nose nut oak owl party poem pond queen radar rug sit slow
    sugar talk to trip wind wood work
"""


class PigLatin(Environment):
    rule = (
        "For every entry of the input list, move its first character to its end and write ay after "
        "it. An empty entry becomes ay."
    )

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(2 + level)]

    def solve(self, x: list[str]) -> list[str]:
        return [word[1:] + word[:1] + "ay" for word in x]

    def accepts(self, x: list[str]) -> bool:
        return 0 < len(x) <= 10 and all(len(word) <= 20 for word in x)
