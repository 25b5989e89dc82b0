import random

from envpool import Environment


class BracketHeight(Environment):
    rule = (
        "Start at 0 and go through the input: an opening round bracket adds one, a closing one "
        "subtracts one, other characters change nothing. Give the largest value reached, the 0 at the "
        "start included."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return "".join(rng.choice("((())ab") for _ in range(8 + 4 * level))

    def solve(self, x: str) -> int:
        height = highest = 0
        for c in x:
            height += (c == "(") - (c == ")")
            highest = max(highest, height)
        return highest

    def accepts(self, x: str) -> bool:
        return x.isascii() and 0 < len(x) <= 60
