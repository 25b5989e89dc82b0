"""L5: an answer that says nothing earns nothing."""

import pytest

from envpool.admission.admission import Admission
from envpool.members import Origin
from envpool.sandbox import LocalExecutor

PROGRAM = """
import random

from envpool import Environment, Planted


class Palindrome(Environment):
    rule = "Give a text that begins with the letters of the input and reads the same backwards."

    def sample(self, rng: random.Random, level: int) -> Planted:
        x = "".join(rng.choice("abcdefgh") for _ in range(3 + 2 * level))
        return Planted(x, x + x[::-1])

    def verify(self, x: str, answer: str) -> float:
        right = answer.startswith(x) and answer == answer[::-1]
        {scores}
"""


async def verdict(executor: LocalExecutor, scores: str) -> tuple[str, str]:
    judged = await Admission(executor).judge(PROGRAM.format(scores=scores), Origin.IMPORTED)
    return judged.gate, judged.reason


@pytest.mark.parametrize(
    "scores",
    [
        "return 1.0 if right else 0.0",
        "return 1.0 if right else 0.5 if answer.startswith(x) else 0.0",
    ],
)
async def test_a_scorer_that_pays_for_nothing_only_what_it_is_worth_passes(
    executor: LocalExecutor, scores: str
) -> None:
    assert (await verdict(executor, scores))[0] == ""


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ("return 1.0 if right else 0.01", "scores 0.01 or more in 15 of 15 draws"),
        ("return 1.0 if right else 0.05 * (answer == '')", 'says nothing, "", scores 0.05'),
        ("return 1.0 if right or (x[0] < 'd' and answer) else 0.0", "any text scores 1 for seed"),
    ],
)
async def test_a_scorer_that_pays_for_a_text_that_says_nothing_falls(
    executor: LocalExecutor, scores: str, reason: str
) -> None:
    gate, why = await verdict(executor, scores)
    assert gate == "L5"
    assert reason in why
