import random

from envpool import Environment

WORDS = """
    bad bike boat body bone box boy call camp cat city coat cook copy corn dish dry dust ear east
    egg end fact fat fire fish food fox frog full gate gift goat ham hope hour ice jump key late leg
    life lion mail meal news note page pet pie road rope safe salt sand ship slow sock soft song
    soup time tin toe trip true walk war way wind wing zoo
"""


class FirstLetter(Environment):
    rule = "Give the first character of the input."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> str:
        return x[0]

    def accepts(self, x: str) -> bool:
        return len(x) > 0
