import random

from envpool import Environment

WORDS = """
    air alarm arena bee box cry data deep door eagle east eye foot gift hill home is key lady
    land line log month my name opera owl paper phone pie rice river rope ship sofa tall time
    top tower tuba up way yes zoo
"""


class BracketsMatch(Environment):
    rule = (
        "Look only at the round brackets of the input. Does every opening one have its own closing "
        "one later in the text, and every closing one its own opening one before it? Without any the "
        "answer is yes."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        text = ""
        for _ in range(2 + level):
            text = rng.choice(["(" + text + ")", text + "()", "()" + text])
        if rng.random() < 0.5:
            place = rng.randrange(len(text))
            text = text[:place] + "()"[text[place] == "("] + text[place + 1 :]
        return text + rng.choice(WORDS.split())

    def solve(self, x: str) -> bool:
        height = 0
        for c in x:
            height += (c == "(") - (c == ")")
            if height < 0:
                return False
        return height == 0

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 60
