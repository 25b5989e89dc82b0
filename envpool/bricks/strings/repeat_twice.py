import random

from envpool import Environment

WORDS = """
    ant bad base bath bed bike camp card cat clay cool dark desk down duck dust eye fish flat food
    foot fox gate heat hen home horn hour ice joke key kid kind king lamp leaf line lion man neck
    nice note nut path pie pink plan red rest ride road roof rope run salt sing slow snow soup star
    sun tail ten tin top walk warm wave wet wine wood zoo
"""


class RepeatTwice(Environment):
    rule = "Write the input twice, with a space between."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return f"{x} {x}"

    def accepts(self, x: str) -> bool:
        return len(x) <= 80
