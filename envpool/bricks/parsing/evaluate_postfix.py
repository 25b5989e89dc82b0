import random
import re

from envpool import Environment


class EvaluatePostfix(Environment):
    rule = (
        "The input holds whole numbers and the operators +, - and * with spaces between them, such as "
        "7 2 - 3 *. An operator replaces the last two values, a and after it b, by a+b, a-b or a "
        "times b. Give the value that is left at the end."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        parts = [str(rng.randint(2, 9)), str(rng.randint(2, 9)), rng.choice("+-*")]
        for _ in range(1 + level):
            parts += [str(rng.randint(2, 9)), rng.choice("+-*")]
        return " ".join(parts)

    def solve(self, x: str) -> int:
        values = []
        for part in x.split(" "):
            if part not in ("+", "-", "*"):
                values.append(int(part))
                continue
            b, a = values.pop(), values.pop()
            values.append(a + b if part == "+" else a - b if part == "-" else a * b)
        return values[0]

    def accepts(self, x: str) -> bool:
        if re.fullmatch(r"([0-9]{1,3} |[+*-] ){0,20}[+*-]", x) is None:
            return False
        effects = [1 if part.isdigit() else -1 for part in x.split(" ")]
        return sum(effects) == 1 and all(sum(effects[: i + 1]) > 0 for i in range(len(effects)))
