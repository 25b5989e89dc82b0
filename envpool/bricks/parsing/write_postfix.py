import random
import re

from envpool import Environment


class WritePostfix(Environment):
    rule = (
        "The input holds numbers with +, - or * between them, such as 2+3*4. Put every operator "
        "behind the number that follows it, and one space between all parts: here 2 3 + 4 *."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        text = str(rng.randint(2, 9))
        for _ in range(2 + level):
            text += rng.choice("+-*") + str(rng.randint(2, 99))
        return text

    def solve(self, x: str) -> str:
        return re.sub(r"([+*-])([0-9]+)", r" \2 \1", x)

    def accepts(self, x: str) -> bool:
        return re.fullmatch(r"[0-9]{1,3}([+*-][0-9]{1,3}){1,8}", x) is not None
