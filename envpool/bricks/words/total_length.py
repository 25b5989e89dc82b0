import random

from envpool import Environment

WORDS = """
    act am an as call chair egg fact flag fruit game gate glass good grass heart in lemon mad mail
    me money mouth my name night oak paper pet piano pie plant ship snow soft spoon table tiger toe
    tower toy trip truck true up us warm water
"""


class TotalLength(Environment):
    rule = "Add up the lengths of the entries of the input list."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(2 + level)]

    def solve(self, x: list[str]) -> int:
        return sum(len(text) for text in x)

    def accepts(self, x: list[str]) -> bool:
        return len(x) > 0
