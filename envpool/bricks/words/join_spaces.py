import random

from envpool import Environment

WORDS = """
    act age ant arm bed bird bone box card deep door ear end fact ham hen key kind lime lost meal
    meat news pay pig play pond race rain red ring road rose salt soap sock song stop tail tent top
    trip walk wet wind wine wood year
"""


class JoinSpaces(Environment):
    rule = "Write the entries of the input list with spaces between them."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(3 + level)]

    def solve(self, x: list[str]) -> str:
        return " ".join(x)

    def accepts(self, x: list[str]) -> bool:
        return 0 < len(x) <= 30
