import random

from envpool import Environment

WORDS = """
    air bad base bat bed bird book call calm cap car card cat cold deep dog door down duck dust end
    face fast fork fox frog game girl gold gray hard hat hope iron jump king lady land leaf leg life
    lime list luck mad moon name open page pen pot sea seed shop sit soap soft soup tail team ten
    tent top toy tree true walk wash way week yard zoo
"""


class AddMark(Environment):
    rule = "Write the input with an exclamation mark after it."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return f"{x}!"
