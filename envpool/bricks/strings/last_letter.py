import random

from envpool import Environment

WORDS = """
    add air bank base bike bus car card cat cold cup dish dog dry duck east eye face farm fast fire
    fish fork fox frog gate girl goat gray hall hand head hope iron lady land late life line lion
    mad mark meal milk mind neck net nut oak oven pet pie pig plan race rain rose sad size skin soap
    star swim tea tent true view wall warm wash wave wet
"""


class LastLetter(Environment):
    rule = "Give the last character of the input."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return x[-1]

    def accepts(self, x: str) -> bool:
        return len(x) > 0
