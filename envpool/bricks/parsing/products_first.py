import math
import random
import re

from envpool import Environment


class ProductsFirst(Environment):
    rule = (
        "The input holds whole numbers with plus signs or stars between them, such as 2+3*4. A star "
        "multiplies, and products are worked out before sums. Leading zeros change nothing. Give its value."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        text = str(rng.randint(1, 9))
        for _ in range(2 + level):
            text += rng.choice("+*") + str(rng.randint(1, 9))
        return text

    def solve(self, x: str) -> int:
        return sum(math.prod(map(int, part.split("*"))) for part in x.split("+"))

    def accepts(self, x: str) -> bool:
        return re.fullmatch(r"[0-9]{1,3}([+*][0-9]{1,3}){0,9}", x) is not None
