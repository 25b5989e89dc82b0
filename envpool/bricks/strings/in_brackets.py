import random

from envpool import Environment

WORDS = """
    act age ant ask bag bath big body boy bus call calm coat cook copy dark dog dust eye face fact
    fall fast fire fish flag foot frog fun game gate gift hall ham hat horn hour ice iron kid left
    list long lost mail man mind page pig play pot ride room rope shoe sit size soap soup star sun
    talk tall tent tin toy true walk war warm wave year
"""


class InBrackets(Environment):
    rule = "Write the input inside round brackets."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return f"({x})"
