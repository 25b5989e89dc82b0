import random

from envpool import Environment

WORDS = """
    add age alarm ant apple atlas body camp city cup deep desk dish door eagle easy end gift
    head hour is jar life long man mark no or ounce pea pen pet plan pot ring road roof soap
    team ten tin war warm wash
"""


class ShiftByNumber(Environment):
    rule = (
        "The input is a text and a number. Move every small letter of the text forward in the "
        "alphabet by that number, or back where it is negative; a follows z. Other characters stay."
    )

    def sample(self, rng: random.Random, level: int) -> tuple[str, int]:
        text = " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))
        return text, rng.randint(1, 9) * rng.choice((-1, 1))

    def solve(self, x: tuple[str, int]) -> str:
        text, number = x
        return "".join(chr((ord(c) - 97 + number) % 26 + 97) if "a" <= c <= "z" else c for c in text)

    def accepts(self, x: tuple[str, int]) -> bool:
        return x[0].isascii() and 0 < len(x[0]) <= 60 and abs(x[1]) <= 10**6
