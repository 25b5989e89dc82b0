import random

from envpool import Environment

WORDS = """
    add air arm art ask bad bag ball bat bike cap cat coat cook cool copy deep dish door ear egg
    face fire foot frog game goat hair ham hat iron jam joke jump kind kite lady lake lamp land leaf
    life luck man meat mind oak oil pay plan pot race red rest road rose safe seed ship size song
    stop swim walk wall war wave west wine work year zoo
"""


class SameEnds(Environment):
    rule = "Is the first character of the input the same as the last?"

    def sample(self, rng: random.Random, level: int) -> str:
        text = " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))
        return text[:-1] + text[0] if rng.random() < 0.5 else text

    def solve(self, x: str) -> bool:
        return x[0] == x[-1]

    def accepts(self, x: str) -> bool:
        return len(x) > 0
