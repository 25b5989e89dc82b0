import random
import re

from envpool import Environment


class TruthTable(Environment):
    rule = (
        "The input is a formula of a and b with ! (not), & (and) and | (or); ! binds strongest, then "
        "&, then |. List its truth values for a, b both false, only b true, only a true, both true."
    )

    def sample(self, rng: random.Random, level: int) -> str:
        parts = [rng.choice(("a", "b", "!a", "!b")) for _ in range(3 + level)]
        odds = 0.5 if level < 2 else 0.3
        return parts[0] + "".join(rng.choices("&|", (1 - odds, odds))[0] + part for part in parts[1:])

    def solve(self, x: str) -> list[bool]:
        def holds(part: str, a: bool, b: bool) -> bool:
            return (a if part[-1] == "a" else b) != part.startswith("!")

        terms = [term.split("&") for term in x.split("|")]
        rows = [(a, b) for a in (False, True) for b in (False, True)]
        return [any(all(holds(part, a, b) for part in term) for term in terms) for a, b in rows]

    def accepts(self, x: str) -> bool:
        return re.fullmatch(r"(!?[ab][&|]){0,20}!?[ab]", x) is not None
