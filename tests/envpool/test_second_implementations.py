"""Every brick is implemented a second time, from its rule and inputs alone; where both differ, the rule is at fault."""

from copy import deepcopy
from functools import cache

import pytest

from envpool.signatures import IllegalValue, canonical_bytes, literal
from tests.envpool.composition.in_process import Brick, bricks
from tests.envpool.second.known import IMPLEMENTED, NAMES, Implementation
from tests.envpool.second.trials import Passed, accepted, drawn, passed_on

INPUTS = 50
"""Inputs of each level, and as many that other bricks pass on."""

BRICKS = {brick.name: brick for brick in bricks()}


@cache
def passed() -> list[Passed]:
    return passed_on(BRICKS.values())


def disagreements(brick: Brick, second: Implementation, inputs: list[object]) -> list[str]:
    """Where the two differ, in words that say what each gave."""
    told = ((x, brick.apply(deepcopy(x)), *answered(second, deepcopy(x))) for x in inputs)
    return [
        f"{literal(x)} is {literal(first)} by the brick, {shown} by its rule"
        for x, first, shown, key in told
        if key != canonical_bytes(first)
    ]


def answered(second: Implementation, x: object) -> tuple[str, bytes | None]:
    """What the second implementation gives: as text, and as canonical bytes where it is a value."""
    try:
        value = second(x)
        return literal(value), canonical_bytes(value)
    except IllegalValue as error:
        return str(error), None
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        return repr(error), None


def test_every_brick_has_a_second_implementation_and_there_is_none_too_many() -> None:
    assert sorted(set(NAMES) - set(IMPLEMENTED)) == []
    assert sorted(set(IMPLEMENTED) - set(NAMES)) == []


@pytest.mark.parametrize("name", sorted(IMPLEMENTED.keys() & BRICKS))
def test_both_agree(name: str) -> None:
    brick, second = BRICKS[name], IMPLEMENTED[name]
    for inputs in drawn(brick, INPUTS).values():
        assert disagreements(brick, second, inputs) == []
    assert disagreements(brick, second, accepted(brick, passed(), INPUTS)) == []


def test_a_second_implementation_that_differs_is_told_with_both_answers() -> None:
    double = BRICKS["numbers/double"]
    assert disagreements(double, lambda x: 2 * x, [3, -4]) == []
    assert disagreements(double, lambda x: x * x, [2, 3]) == ["3 is 6 by the brick, 9 by its rule"]
    assert disagreements(double, lambda x: x > 1, [3]) == ["3 is 6 by the brick, True by its rule"]
    assert len(disagreements(double, lambda x: x / 0, [3])) == 1
