import random

from envpool import Environment

SIGNS = {"M": 1000, "CM": 900, "D": 500, "CD": 400, "C": 100, "XC": 90, "L": 50, "XL": 40, "X": 10}
SIGNS |= {"IX": 9, "V": 5, "IV": 4, "I": 1}


class WriteRoman(Environment):
    rule = (
        "Write the input as a Roman number with the signs M 1000, CM 900, D 500, CD 400, C 100, XC "
        "90, L 50, XL 40, X 10, IX 9, V 5, IV 4 and I 1, always taking the largest that still fits."
    )

    def sample(self, rng: random.Random, level: int) -> int:
        low, high = ((4, 20), (21, 99), (40, 300), (100, 999), (500, 1999), (2000, 3999))[min(level, 5)]
        return rng.randint(low, high)

    def solve(self, x: int) -> str:
        text = ""
        for sign, value in SIGNS.items():
            text += sign * (x // value)
            x %= value
        return text

    def accepts(self, x: int) -> bool:
        return 0 < x < 4000
