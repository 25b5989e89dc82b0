import random

from envpool import Environment

WORDS = """
    ask bell bird blue box call calm dog eagle flat food foot free gate go gym ham hat home horn
    hour if lamp lime luck me owl page panda pasta pen sand slow snow sofa sun tail ten time
    union wash wave week why
"""


class SwapNeighbours(Environment):
    rule = (
        "Swap the first character of the input with the second, the third with the fourth, and so on. "
        "A last character without a partner stays."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return "".join(x[i : i + 2][::-1] for i in range(0, len(x), 2))

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 60
