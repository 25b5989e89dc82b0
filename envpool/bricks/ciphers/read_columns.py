import random

from envpool import Environment

WORDS = """
    alien apple at bat bike book boy cook door down duck easy hat hen hope ice leg man map me no
    of olive ounce pot run salt seat ship skin smile snow soup spy stone team try up van wash we
    whale why yes
"""


class ReadColumns(Environment):
    rule = (
        "Write the characters of the input in rows of three, the last row perhaps shorter. Then read "
        "the first column from top to bottom, then the second, then the third, as one text."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(2 + level))

    def solve(self, x: str) -> str:
        return x[::3] + x[1::3] + x[2::3]

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 60
