"""The examination: what counts as past L1 to L4, and what only repeats."""

from envpool.generation import Grammar
from envpool.generation.lessons import fenced, oracle_text
from training.warmstart.examination import examine

SOUND = """\
import random

from envpool import Environment


class {name}(Environment):
    rule = "The input is a list of integers. {rule}"

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return [rng.randint(1, 9 + 3 * level) for _ in range(4 + 2 * level)]

    def solve(self, x: list[int]) -> int:
        return {oracle}
"""
PRODUCTS = SOUND.format(name="Products", rule="Give the sum of the squares.", oracle="sum(n * n for n in x)")
SPREAD = SOUND.format(name="Spread", rule="Give the largest minus the smallest.", oracle="max(x) - min(x)")
CONSTANT = SOUND.format(name="Constant", rule="Give zero.", oracle="0 * len(x)")
BROKEN = SOUND.format(name="Broken", rule="Give the sum.", oracle="sum(y)")
SHOWN = SOUND.format(name="Shown", rule="Give the sum.", oracle="sum(x)")


async def test_shares_are_of_all_proposals_and_copies_of_what_was_shown_count_as_nothing() -> None:
    replies = [fenced(each) for each in (PRODUCTS, SPREAD, CONSTANT, BROKEN, SHOWN)] + ["I cannot."]
    found = await examine(replies, [SHOWN], {oracle_text(SPREAD)}, {oracle_text(PRODUCTS)})
    assert found.proposals == 6 and found.undecided == 0
    assert dict(found.fell) == {"": 2, "L4": 1, "L2": 1, "duplicate": 1, "reply": 1}
    assert found.past_l4 == 2 / 6
    assert found.interval[0] < 2 / 6 < found.interval[1]
    assert (found.repeated, found.apart) == (1, 1)
    assert "'y'" in found.reasons["L2"]


async def test_what_the_grammar_writes_mostly_passes_so_that_a_pupil_can() -> None:
    replies = [fenced(each.source) for each in Grammar(9).write(12)]
    found = await examine(replies, [], set(), set())
    assert found.past_l4 >= 0.6
    assert found.to_dict()["past"]["L1"] == 1.0
