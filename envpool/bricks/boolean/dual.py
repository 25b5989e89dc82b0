import random

from envpool import Environment


class Dual(Environment):
    rule = (
        "In the input, replace every & by | and every | by &, every T by F and every F by T, all at "
        "once. All other characters stay."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        parts = [rng.choice(("T", "F", "!T", "!F")) for _ in range(3 + level)]
        return parts[0] + "".join(rng.choice("&|") + part for part in parts[1:])

    def solve(self, x: str) -> str:
        return x.translate(str.maketrans("&|TF", "|&FT"))

    def accepts(self, x: str) -> bool:
        return len(x) <= 60 and any(c in "&|TF" for c in x)
