import random

from envpool import Environment

WORDS = """
    air arm bad base bath bird book box bus calm card coat date deep dish door drop dry duck face
    farm fast fat fox full gift goat good hair ham hand joke key king kite lamp left lime line lion
    log mad man mark mind nest news oven pay pig play pond rain rice road rope seed shop sing sit
    size soap soup stop toy true van walk wind wolf year zoo
"""


class AlphabetPlace(Environment):
    rule = "Give the place of the first letter of the input in the alphabet, small or capital; a is 1."

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(1 + level))

    def solve(self, x: str) -> int:
        return next(ord(c) for c in x.lower() if c.isalpha()) - 96

    def accepts(self, x: str) -> bool:
        return x.isascii() and any(map(str.isalpha, x))
