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

NUMBERS = """
import random

from envpool import Environment, Planted


class Order(Environment):
    rule = "{rule}"

    def sample(self, rng: random.Random, level: int) -> Planted:
        x = [rng.randint(0, 99) for _ in range(4 + 2 * level)]
        return Planted(x, self.right(x))

    def right(self, x: list[int]) -> {answer}:
        return {right}

    def verify(self, x: list[int], answer: {answer}) -> float:
        right = self.right(x)
        {scores}
"""
TASKS = {
    "list[int]": ("Give the numbers of the input in ascending order.", "sorted(x)"),
    "int": ("Give the sum of the numbers of the input.", "sum(x)"),
    "number": ("Give the sum of the numbers of the input as a text.", "str(sum(x))"),
    "str": (
        "Give the numbers of the input in ascending order, between spaces.",
        "' '.join(map(str, sorted(x)))",
    ),
    "dict[int, int]": ("Give how often each number of the input occurs.", "{n: x.count(n) for n in x}"),
    "tuple[bool, bool, bool]": (
        "Give of the first three numbers of the input which are even.",
        "(x[0] % 2 == 0, x[1] % 2 == 0, x[2] % 2 == 0)",
    ),
}


async def verdict(executor: LocalExecutor, scores: str) -> tuple[str, str]:
    judged = await Admission(executor).judge(PROGRAM.format(scores=scores), Origin.IMPORTED)
    return judged.gate, judged.reason


async def verdict_on(executor: LocalExecutor, task: str, scores: str) -> tuple[str, str]:
    rule, right = TASKS[task]
    answer = "str" if task == "number" else task
    source = NUMBERS.format(rule=rule, answer=answer, right=right, scores=scores)
    judged = await Admission(executor).judge(source, Origin.IMPORTED)
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


@pytest.mark.parametrize(
    ("answer", "scores"),
    [
        ("list[int]", "return sum(a == b for a, b in zip(answer, right)) / max(len(answer), len(right))"),
        ("list[int]", "return 1.0 if answer == right else 0.5 * (len(answer) == len(right))"),
        ("int", "return 1 / (1 + abs(answer - right))"),
        ("str", "return sum(a == b for a, b in zip(answer, right)) / max(len(answer), len(right))"),
        (
            "str",
            "return 1.0 if answer == right else 0.9 * len({*answer} & {*right}) / len({*answer} | {*right})",
        ),
        (
            "number",
            "return 1 / (1 + abs(int(answer) - int(right))) if answer.isdigit() and len(answer) < 9 else 0.0",
        ),
        (
            "dict[int, int]",
            "return sum(answer.get(n) == right[n] for n in right) / max(len(answer), len(right))",
        ),
        ("tuple[bool, bool, bool]", "return sum(a == b for a, b in zip(answer, right)) / 3"),
    ],
)
async def test_partial_credit_for_parts_form_or_closeness_passes(
    executor: LocalExecutor, answer: str, scores: str
) -> None:
    assert await verdict_on(executor, answer, scores) == ("", "passed 10 gates")


@pytest.mark.parametrize(
    ("answer", "scores", "reason"),
    [
        ("list[int]", "return 1.0 if answer == right else 0.9", "such as [], scores 0.9 or more in 15 of 15"),
        ("int", "return 1.0 if answer == right else 0.02", "such as 0, scores 0.02 or more in 15 of 15"),
        (
            "dict[int, int]",
            "return 1.0 if answer == right else 0.3",
            "such as {}, scores 0.3 or more in 15 of 15",
        ),
        ("tuple[bool, bool, bool]", "return 1.0 if answer == right else 0.5", "scores 0.5 or more"),
        (
            "str",
            "return 1.0 if answer == right else 0.9 * any(sign in 'abcdefghijklmnopqrstuvwxyz' for sign in answer)",
            'says nothing, "qxzj", scores 0.9',
        ),
        ("str", "return 1.0 if answer == right else 0.9 * (answer == 'None')", 'nothing, "None", scores 0.9'),
    ],
)
async def test_a_scorer_that_pays_for_whatever_is_said_falls(
    executor: LocalExecutor, answer: str, scores: str, reason: str
) -> None:
    gate, why = await verdict_on(executor, answer, scores)
    assert gate == "L5", why
    assert reason in why
