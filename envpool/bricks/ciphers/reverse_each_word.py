import random

from envpool import Environment

WORDS = """
    act an ape aqua bee blue book by data dog easy egg fast field food fork fox good gym hair he
    job lava name night on page panda path pea piano run ship shirt smile spoon stop tent toy
    wet whale world zebra zoo
"""


class ReverseEachWord(Environment):
    rule = (
        "A word is a run of characters other than spaces. Write every word of the input backwards; "
        "the order of the words and all spaces stay."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return " ".join(rng.choice(WORDS.split()) for _ in range(2 + level))

    def solve(self, x: str) -> str:
        return " ".join(word[::-1] for word in x.split(" "))

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 60
