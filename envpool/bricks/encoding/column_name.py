import random

from envpool import Environment


class ColumnName(Environment):
    rule = (
        "The columns of a spreadsheet are named A, B, ..., Z, then AA, AB, ..., AZ, BA, ..., ZZ, then "
        "AAA and so on. Give the name of the column whose number is the input; A has number 1."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(10 ** (1 + level), 10 ** (2 + level) - 1)

    def solve(self, x: int) -> str:
        if x < 1:
            raise ValueError("no column has this number")
        name = ""
        while x:
            x, place = divmod(x - 1, 26)
            name = chr(65 + place) + name
        return name

    def accepts(self, x: int) -> bool:
        return 0 < x <= 10**9
