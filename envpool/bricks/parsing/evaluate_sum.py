import random
import re

from envpool import Environment


class EvaluateSum(Environment):
    rule = (
        "The input holds whole numbers with plus or minus signs between them and perhaps one before "
        "the first, such as -12+5-3. Leading zeros change nothing. Give its value."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        text = str(rng.randint(1, 9 + 10 * level))
        for _ in range(2 + level):
            text += rng.choice("+-") + str(rng.randint(1, 9 + 10 * level))
        return text

    def solve(self, x: str) -> int:
        return sum(int(part) for part in re.findall(r"[+-]?[0-9]+", x))

    def accepts(self, x: str) -> bool:
        return re.fullmatch(r"[+-]?[0-9]{1,6}([+-][0-9]{1,6}){0,15}", x) is not None
