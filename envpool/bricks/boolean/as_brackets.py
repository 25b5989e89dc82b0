import random

from envpool import Environment


class AsBrackets(Environment):
    rule = (
        "Write an opening round bracket for each true and a closing one for each false of the input "
        "list, in order, as one text."
    )

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(4 + 2 * level)]

    def solve(self, x: list[bool]) -> str:
        return "".join("(" if flag else ")" for flag in x)

    def accepts(self, x: list[bool]) -> bool:
        return 0 < len(x) <= 30
