import random

from envpool import Environment

WORDS = """
    ant as at bell boat body bread cap card cool copy corn dark flag fork fur game hand head
    heart horse key lamp luck man map meat my of oil open panda plant rest road roof room rope
    sad safe seat smile storm talk
"""


class Winner(Environment):
    rule = "Give the pair of the input list with the largest number; of several the first."

    def sample(self, rng: random.Random, level: int) -> list[tuple[str, int]]:
        return [(rng.choice(WORDS.split()), rng.randint(0, 9 + 10 * level)) for _ in range(3 + level)]

    def solve(self, x: list[tuple[str, int]]) -> tuple[str, int]:
        return max(x, key=lambda pair: pair[1])

    def accepts(self, x: list[tuple[str, int]]) -> bool:
        return 0 < len(x) <= 30
