import random

from envpool import Environment

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class ColumnNumber(Environment):
    rule = (
        "The columns of a spreadsheet are named A, B, ..., Z, then AA, AB, ..., AZ, BA, ..., ZZ, then "
        "AAA and so on. Give the number of the column that the input names; A has number 1."
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
