import random

from envpool import Environment

WORDS = """
    act age ant ball base bat bath bike boy calm city coat code cool dark desk dust ear east eye
    face fat food foot fox gate good heat hill horn hot job kind king lady lake life lime luck man
    mind note oil open oven pie pink poem rest rock run salt shoe sit sky snow soap sock talk ten
    top tree trip walk wash wave way west wind word work yes
"""


class FirstToEnd(Environment):
    rule = "Move the first character of the input to its end."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return x[1:] + x[:1]

    def accepts(self, x: str) -> bool:
        return len(x) > 0
