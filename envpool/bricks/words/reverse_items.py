import random

from envpool import Environment

WORDS = """
    act art base bath bell bike bird body box bus call camp cap care cat cold cook cup dry duck ear
    fact fish flag key long love mark meat mind nice note oil oven park pay pet pig plan pond roof
    sad time tin tree true war week
"""


class ReverseItems(Environment):
    rule = "Write the input list in reverse order."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(3 + level)]

    def solve(self, x: list[str]) -> list[str]:
        return x[::-1]

    def accepts(self, x: list[str]) -> bool:
        return len(x) > 0
