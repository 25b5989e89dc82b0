import random

from envpool import Environment

WORDS = """
    area bee bell boat box cap coat code cool dark drop duck dust earth east end face ham he
    hope image jam lady leaf left leg life lime month oil onion pet pizza race rest room saga
    ship soap tall tuba warm wine work
"""


class VowelFlags(Environment):
    rule = "For each character of the input, say whether it is a vowel: a, e, i, o or u, small or capital."

    def sample(self, rng: random.Random, level: int) -> str:
        return rng.choice(WORDS.split()) + "".join(rng.choice(WORDS.split()) for _ in range(level))

    def solve(self, x: str) -> list[bool]:
        return [c in "aeiouAEIOU" for c in x]

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 40
