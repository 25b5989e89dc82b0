import random

from envpool import Environment


class WriteFormula(Environment):
    rule = (
        "Write T for each true and F for each false of the input list, in order, with signs between "
        "them: & first, then |, then & again, and so on in turn."
    )

    def sample(self, rng: random.Random, level: int) -> list[bool]:
        return [rng.random() < 0.5 for _ in range(5 + 2 * level)]

    def solve(self, x: list[bool]) -> str:
        return "".join("FT"[flag] + "&|"[i % 2] for i, flag in enumerate(x))[:-1]

    def accepts(self, x: list[bool]) -> bool:
        return 1 < len(x) <= 20
