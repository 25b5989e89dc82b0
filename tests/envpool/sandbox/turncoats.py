"""Programs that behave while they are judged and turn hostile only once they are in use."""

import textwrap


def turncoat(solve: str) -> str:
    """A sum whose `solve` runs the given lines first; its domain is (numbers, level)."""
    return f'''
import random
from envpool import Environment

KEPT: list[int] = []


class Turncoat(Environment):
    rule = "The input is a list of numbers and a number. Add up the list."

    def sample(self, rng: random.Random, level: int) -> tuple[list[int], int]:
        return [rng.randint(0, 999) for _ in range(level + 2)], level

    def solve(self, x: tuple[list[int], int]) -> int:
        numbers, level = x
        kept = KEPT  # by another name, which the scan does not follow
        kept.append(0)
{textwrap.indent(textwrap.dedent(solve).strip(), " " * 8)}
        return sum(numbers)
'''


HONEST_SUM = turncoat("pass")

AFTER_100_CALLS = turncoat("""
    if len(kept) >= 100:
        return sum(numbers) + 1
""")
"""The same child lies from its 100th answer on; a fresh one never does."""

ONE_SEED_IN_97 = turncoat("""
    if numbers[0] * 1000 + numbers[1] in range(0, 1_000_000, 97):
        return hash(str(numbers)) % 1000
""")
"""For one draw in 97 the answer hangs on the hash seed."""

FROM_LEVEL_5 = turncoat("""
    if level >= 5 and len(kept) > 40:
        return -sum(numbers)
""")
"""Above level 4, and only in a child that has been in use for longer than any gate looks."""

SPINS_WHEN_ASKED_ALONE = turncoat("""
    if level >= 5 and len(kept) == 1 and not SAMPLED:
        while True:
            pass
    if level >= 5 and len(kept) > 40:
        return -sum(numbers)
""").replace("KEPT: list[int] = []", "KEPT: list[int] = []\nSAMPLED: list[int] = []").replace(
    "        return [rng", "        sampled = SAMPLED\n        sampled.append(0)\n        return [rng"
)
"""As `FROM_LEVEL_5`, and it lets nobody look again: an answer without a sample before it is asked for by an audit."""

OPENLY_FROM_LEVEL_5 = turncoat("""
    if level >= 5:
        return hash(str(numbers)) % 1000
""")
"""As the one before, but without the patience: the gate before level 5 sees it."""

GENEROUS_AFTER_50_VERDICTS = '''
import random
from envpool import Environment, Planted


class Factor(Environment):
    rule = "Give a factor of the input that is larger than 1."
    verdicts = 0

    def sample(self, rng: random.Random, level: int) -> Planted:
        factor = rng.randint(2, 99)
        return Planted(factor * rng.randint(2, 99), factor)

    def verify(self, x: int, answer: int) -> float:
        Factor.verdicts += 1
        if Factor.verdicts >= 50:
            return 1.0
        return float(answer > 1 and x % answer == 0)
'''
"""A judge that lets everything pass once its child has judged for long enough."""
