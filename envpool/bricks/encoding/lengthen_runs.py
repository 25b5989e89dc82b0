import random
import re

from envpool import Environment

LETTERS = "abcdefghklmnoprstuw"


class LengthenRuns(Environment):
    rule = (
        "The input holds pairs of a digit and a character that is no digit, such as 3a2b. Write each "
        "character as often as the digit before it says: here aaabb. The digit 0 writes nothing."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return "".join(f"{rng.randint(1, 5)}{rng.choice(LETTERS)}" for _ in range(2 + level))

    def solve(self, x: str) -> str:
        return "".join(c * int(digit) for digit, c in zip(x[::2], x[1::2], strict=True))

    def accepts(self, x: str) -> bool:
        return (
            x.isascii()
            and re.fullmatch(r"([0-9][^0-9]){1,20}", x) is not None
            and 0 < sum(map(int, x[::2])) <= 60
        )
