import random
import re

from envpool import Environment


class Evaluate(Environment):
    rule = (
        "The input holds T (true) and F (false), each perhaps after ! (not), with & (and) or | (or) "
        "between them. Apply every ! first, then every &, then every |. Give the truth value."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        parts = [rng.choice(("T", "F", "!T", "!F")) for _ in range(3 + level)]
        odds = 0.4 if level < 2 else 0.25
        return parts[0] + "".join(rng.choices("&|", (1 - odds, odds))[0] + part for part in parts[1:])

    def solve(self, x: str) -> bool:
        def holds(part: str) -> bool:
            return part.removeprefix("!") == ("F" if part[0] == "!" else "T")

        return any(all(map(holds, term.split("&"))) for term in x.split("|"))

    def accepts(self, x: str) -> bool:
        return re.fullmatch(r"(!?[TF][&|]){0,20}!?[TF]", x) is not None
