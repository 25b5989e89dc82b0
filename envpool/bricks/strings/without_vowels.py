import random

from envpool import Environment

WORDS = """
    act bank bee bird boat book box boy cake car cold cook cow date dish dog dry duck east easy end
    eye fall flag flat food fox gate goat gray hall hand hill ice jump lime lion long love man meal
    name open park path pen play poem rest rich ride rock rose seat sing size sky soup star talk
    tent trip true wash week wine wolf wood word yard year zoo
"""


class WithoutVowels(Environment):
    rule = "Remove the vowels a, e, i, o and u, small or capital, from the input."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return "".join(c for c in x if c not in "aeiouAEIOU")
