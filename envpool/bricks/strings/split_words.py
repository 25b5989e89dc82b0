import random

from envpool import Environment

WORDS = """
    ant art bag bank bed bee bell bone box call camp clay code copy cow date day door dust east easy
    fact fire food free frog gift goat gold hair hand heat help hen hour idea iron jump kind leaf
    lime lion log lost mail map meal neck nest nut oak open park pet play pot rice roof sand sun
    swim team ten tree view walk war warm wash wolf yes zoo
"""


class SplitWords(Environment):
    rule = "Words are separated by white space. List the words of the input in order."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(2 + level))

    def solve(self, x: str) -> list[str]:
        return x.split()
