import itertools
import random

from envpool import Environment

WORDS = """
    act ant ape bike bone call card dish eagle ear fan farm fork fur gala hand hen home hour
    image iron jar kite lemon lion long month my oil on page phone ride river sand sea size sock
    song us water wave west world
"""


class Interleave(Environment):
    rule = (
        "Write the characters of the two texts of the input in turn: the first of the first text, the "
        "first of the second, the second of the first, and so on. When one text is used up, append "
        "the rest of the other."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[str, str]:
        return tuple("".join(rng.choice(WORDS.split()) for _ in range(1 + level)) for _ in range(2))

    def solve(self, x: tuple[str, str]) -> str:
        return "".join(a + b for a, b in itertools.zip_longest(*x, fillvalue=""))

    def accepts(self, x: tuple[str, str]) -> bool:
        return 0 < sum(map(len, x)) <= 70
