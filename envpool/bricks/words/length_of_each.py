import random

from envpool import Environment

WORDS = """
    bad ball be blue book card earth fruit fun go goat ham he heat hen hope in is it jam lemon light
    mouth net no note of on page paper phone piano plant poem pond queen rain red river salad slow
    smile soup storm table us walk we
"""


class LengthOfEach(Environment):
    rule = "For each different entry of the input list, give its length."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(2 + level)]

    def solve(self, x: list[str]) -> dict[str, int]:
        return {text: len(text) for text in x}

    def accepts(self, x: list[str]) -> bool:
        return len(x) > 0
