import random

from envpool import Environment

WORDS = """
    add aim ask bell bike box bus by corn cry drama eagle farm foot game grass gym he head horn
    ice if image ink juice lava long lost love mind movie net onion seat sky snake storm ten toe
    truck tuba war world zebra
"""


class LongestWithLength(Environment):
    rule = "Give the longest entry of the input list, of several the last, together with its length."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) + rng.choice(("", "s", "er", "ing")) for _ in range(3 + level)]

    def solve(self, x: list[str]) -> tuple[str, int]:
        longest = max(reversed(x), key=len)
        return longest, len(longest)

    def accepts(self, x: list[str]) -> bool:
        return 0 < len(x) <= 30 and any(x)
