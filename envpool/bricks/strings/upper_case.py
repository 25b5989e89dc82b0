import random

from envpool import Environment

WORDS = """
    aim arm ball bee bird blue boy cake calm card cat clay coat code cold dish duck dust face farm
    fast fish flag foot free hard horn iron joke kind king lady land late leaf life line lion long
    lost love map mark meat milk moon nice oven page park path pie pot race rain red rock run safe
    seat size song soup star stop tall tent true walk warm wing wood
"""


class UpperCase(Environment):
    rule = "Write the input in upper-case letters."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return x.upper()
