import random

from envpool import Environment

WORDS = """
    am as at bank base boat box by cap cat chair cloud dish do door eagle east field free girl hard
    head hill horse ice if is it lamp lemon light lion me money month name nice ocean of or paper
    party path pen phone plant rain rich river sheep shop snake so soap soft spoon stone storm sun
    ten tiger to train up us wave we week west whale wine world
"""


class CountCharacters(Environment):
    rule = "Count the characters of the input, spaces included."

    def sample(self, rng: random.Random, level: int) -> str:
        count = 1 + level + rng.randint(0, 1)
        return " ".join(rng.choice(WORDS.split()) for _ in range(count))

    def solve(self, x: str) -> int:
        return len(x)
