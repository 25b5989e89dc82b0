"""The reader's check: a prompt holds all that is needed, for one who knows the text and what the rules mean."""

import random
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from envpool.contract import Scored
from envpool.members import OperatorName
from tests.envpool.composition.in_process import Brick, Refused, bricks
from tests.envpool.composition.random_composites import OPERATORS, SIZES, Composites
from tests.envpool.composition.reader import Function, Reader
from tests.envpool.second.known import IMPLEMENTED

PROMPTS = 50
"""Of each operator."""
ENOUGH = 100
"""Second implementations without which a reader who goes by them is not asked."""


def meanings(known: list[Brick], function: Callable[[Brick], Function]) -> dict[str, Function]:
    """What each rule says to do; one rule may be about several types."""
    by_rule: defaultdict[str, list[Function]] = defaultdict(list)
    for brick in known:
        by_rule[brick.program.rule].append(function(brick))
    return {rule: first_that_takes(functions) for rule, functions in by_rule.items()}


def first_that_takes(functions: list[Function]) -> Function:
    def apply(x: object) -> object:
        for function in functions:
            with suppress(Refused):
                return function(x)
        raise Refused

    return apply


def by_the_brick(brick: Brick) -> Function:
    return brick.proposed


def by_the_second_implementation(brick: Brick) -> Function:
    """The rule as somebody else understood it, for every value of its type: a prompt does not say what is accepted."""
    return partial(brick.answered_by, IMPLEMENTED[brick.name])


@pytest.mark.parametrize("operator", OPERATORS)
async def test_the_prompt_and_the_rules_are_all_that_an_answer_needs(operator: OperatorName) -> None:
    assert await misread(operator, list(bricks()), by_the_brick) == []


@pytest.mark.skipif(len(IMPLEMENTED) < ENOUGH, reason="too few second implementations")
@pytest.mark.parametrize("operator", OPERATORS)
async def test_who_understood_the_rules_without_the_code_answers_right(operator: OperatorName) -> None:
    known = [brick for brick in bricks() if brick.name in IMPLEMENTED]
    assert await misread(operator, known, by_the_second_implementation) == []


async def misread(
    operator: OperatorName, known: list[Brick], function: Callable[[Brick], Function]
) -> list[tuple[str, str, tuple[object, ...]]]:
    """Prompts that the reader answers so that it scores less than 1, with its answer and the references."""
    reader, drawing, rng = (
        Reader(meanings(known, function)),
        Composites(known),
        random.Random(f"reader {operator}"),
    )
    missed = []
    for n in range(PROMPTS):
        posed = await drawing.posed(rng, operator, SIZES[n % len(SIZES)])
        answer = reader.answer(posed.instance.prompt)
        if await posed.examiner.score(posed.instance, answer) != Scored(1.0):
            missed.append((posed.instance.prompt, answer, posed.instance.references))
    return missed
