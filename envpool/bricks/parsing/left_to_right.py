import random
import re

from envpool import Environment


class LeftToRight(Environment):
    rule = (
        "The input holds whole numbers with +, - or * (times) between them, such as 2+3*4-1. Work "
        "strictly from left to right, with no operator before another: here 19. Leading zeros "
        "change nothing. Give the value."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        text = str(rng.randint(2, 9))
        for _ in range(2 + level):
            text += rng.choice("+-*") + str(rng.randint(2, 9))
        return text

    def solve(self, x: str) -> int:
        value = 0
        for sign, number in re.findall(r"([+*-]?)([0-9]+)", x):
            value = value * int(number) if sign == "*" else value + int(sign + number)
        return value

    def accepts(self, x: str) -> bool:
        return re.fullmatch(r"[0-9]{1,3}([+*-][0-9]{1,3}){0,9}", x) is not None
