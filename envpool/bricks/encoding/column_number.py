import random

from envpool import Environment

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class ColumnNumber(Environment):
    rule = (
        "The input consists of capital letters. A is 1, B is 2, ..., Z is 26, AA is 27, AB is 28, and "
        "so on, as the columns of a spreadsheet. Give the number of the input."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        return "".join(rng.choice(LETTERS) for _ in range(2 + level))

    def solve(self, x: str) -> int:
        number = 0
        for c in x:
            number = 26 * number + ord(c) - 64
        return number

    def accepts(self, x: str) -> bool:
        return 0 < len(x) <= 12 and all("A" <= c <= "Z" for c in x)
