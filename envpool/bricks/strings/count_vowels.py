import random

from envpool import Environment

WORDS = """
    ant bee map jar rug toe pea ape
    by cry dry fly gym my shy sky spy try why cat dog sun hen pig bed cup red box van leg
    moon boat rain blue gold lake rose team wine idea area echo iota aqua audio onion piano eagle
    ocean movie radio olive opera image arena house queen ounce union alien
"""


class CountVowels(Environment):
    rule = "Count the letters a, e, i, o and u, small or capital, in the input."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> int:
        return sum(c in "aeiouAEIOU" for c in x)
