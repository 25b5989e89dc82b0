import random

from envpool import Environment

WORDS = """
    aim ball big bike bone call camp cap care cat copy dog dust east fly fork fox girl gray hair ham
    hat joke lamp leg lion long mark meat moon nose oak park pig play rain skin sock tail ten time
    walk warm west wet wind wing year
"""


class CountItems(Environment):
    rule = "Count the entries of the input list."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(rng.randint(1 + level, 5 + 3 * level))]

    def solve(self, x: list[str]) -> int:
        return len(x)
