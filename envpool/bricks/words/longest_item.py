import random

from envpool import Environment

WORDS = """
    am as ball bee blue by cap clay date end fruit go he head heart hen hope horse in is jump knife
    lemon light line name of paper phone piano pond red rich salad sheep shirt smile so spoon storm
    sugar tail tiger time tower true walk whale
"""


class LongestItem(Environment):
    rule = "Give the longest entry of the input list; of equally long ones the first."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(3 + level)]

    def solve(self, x: list[str]) -> str:
        return max(x, key=len)

    def accepts(self, x: list[str]) -> bool:
        return len(x) > 0
