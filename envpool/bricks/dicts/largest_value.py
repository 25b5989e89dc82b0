import random

from envpool import Environment

WORDS = """
    act bat bell bird box copy corn dark dry duck eye face fun game ham hard hen ice kind king lime
    love luck map meat name net park path pay rich seat shoe sky soap stop sun toy trip wine
"""


class LargestValue(Environment):
    rule = "Give the largest value of the input."

    def sample(self, rng: random.Random, level: int) -> dict[str, int]:
        names = [rng.choice(WORDS.split()) for _ in range(3 + level)]
        return {name: rng.randint(0, 9 + 10 * level) for name in names}

    def solve(self, x: dict[str, int]) -> int:
        return max(x.values())

    def accepts(self, x: dict[str, int]) -> bool:
        return len(x) > 0
