import random

from envpool import Environment

WORDS = """
    bed cup dog egg fish hill ink kite lime moon nest owl pie rose sun tree wolf yes box fur
    bag cat day ear fan gas hat jam lake map name oak park rain sand tail van wall year cake
    papa mama data area salad canal radar pasta alarm drama koala llama panda
    sofa plaza pizza ninja tuba sugar atlas arena zebra piano lava gala saga algae aqua
"""


class CountLetterA(Environment):
    rule = "How many times does the small letter a occur in the input?"

    def sample(self, rng: random.Random, level: int) -> str:
        wanted = rng.randint(0, 2)
        first = rng.choice([word for word in WORDS.split() if word.count("a") == wanted])
        return " ".join([first] + [rng.choice(WORDS.split()) for _ in range(level)])

    def solve(self, x: str) -> int:
        return x.count("a")
