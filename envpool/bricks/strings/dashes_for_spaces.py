import random

from envpool import Environment

WORDS = """
    arm bad ball bee bell big blue book cake care coat cook cool copy deep dog down drop easy egg
    fish frog game gift girl goat gray hand head heat hen horn hour jam jump key king lime luck map
    meal meat moon neck note oak open oven pet pig play pond pot red rich safe ship shop sing size
    sky soup tail talk van wet wind wine word work year yes
"""


class DashesForSpaces(Environment):
    rule = "Replace every space of the input by a dash."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(2 + level))

    def solve(self, x: str) -> str:
        return x.replace(" ", "-")

    def accepts(self, x: str) -> bool:
        return " " in x
