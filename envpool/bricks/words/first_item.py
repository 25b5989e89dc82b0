import random

from envpool import Environment

WORDS = """
    act air ant ball bell bike blue book calm card clay cup day dish dog dry easy egg face fall fire
    fish foot hair hall home hot hour luck man meat mind note open page pay red rich sad safe sky
    soap sun warm wet wolf yard year
"""


class FirstItem(Environment):
    rule = "Give the first entry of the input list."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(3 + level)]

    def solve(self, x: list[str]) -> str:
        return x[0]

    def accepts(self, x: list[str]) -> bool:
        return len(x) > 0
