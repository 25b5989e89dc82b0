import random
import re

from envpool import Environment

WORDS = """
    ant apple bike clay dark farm fat field flag fur goat hen hill juice key lava lime mama
    mouth movie note of open opera paper pea rug salad salt seed sheep shirt snake stone time
    tin train tuba us walk wave wolf work zoo
"""


class NumbersInText(Environment):
    rule = (
        "A number is a run of digits that is as long as possible; signs do not belong to it. List the "
        "numbers that stand in the input, in order."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        words = [rng.choice(WORDS.split()) for _ in range(2 + level)]
        return "".join(word + str(rng.randint(1, 99)) for word in words)

    def solve(self, x: str) -> list[int]:
        return [int(run) for run in re.findall(r"[0-9]+", x)]

    def accepts(self, x: str) -> bool:
        return len(x) <= 70 and max(map(len, re.findall(r"[0-9]+", x)), default=10) <= 9
