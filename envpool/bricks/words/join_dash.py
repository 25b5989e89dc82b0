import random

from envpool import Environment

WORDS = """
    act age ask bee big bird bus car city clay door drop ear easy egg fast flag flat gift goat gold
    ham hen ice idea jam jump kind lamp milk nest net nice oak pet plan rain rest rope sand sit sock
    swim tea toe true van wine
"""


class JoinDash(Environment):
    rule = "Write the entries of the input list with dashes between them."

    def sample(self, rng: random.Random, level: int) -> list[str]:
        return [rng.choice(WORDS.split()) for _ in range(2 + level)]

    def solve(self, x: list[str]) -> str:
        return "-".join(x)

    def accepts(self, x: list[str]) -> bool:
        return 0 < len(x) <= 30
