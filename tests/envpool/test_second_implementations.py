"""Every brick is implemented a second time, from its rule and inputs alone; where both differ, the rule is at fault."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from envpool.sandbox import Sandbox
from envpool.signatures import IllegalValue, canonical_bytes, from_wire, literal, wire_bytes
from tests.envpool.second.known import IMPLEMENTED, NAMES, Implementation
from tests.envpool.second.trials import Brick, Passed, accepted, drawn, inspected, passed_on, solved

INPUTS = 50
"""Inputs of its own samplers, levels 0 to 5 together, and as many again that other bricks pass on."""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as running:
        yield running


@pytest.fixture(scope="module")
def bricks(sandbox: Sandbox) -> dict[str, Brick]:
    return {brick.name: brick for brick in inspected(sandbox)}


@pytest.fixture(scope="module")
def passed(sandbox: Sandbox, bricks: dict[str, Brick]) -> list[Passed]:
    return passed_on(sandbox, bricks.values())


def disagreements(sandbox: Sandbox, brick: Brick, second: Implementation, inputs: list[Any]) -> list[str]:
    """Where the two differ, in words that say what each gave."""
    pairs = zip(inputs, solved(sandbox, brick, inputs), strict=True)
    told = ((from_wire(x), from_wire(first), answered(second, x), first) for x, first in pairs)
    return [
        f"{literal(x)} is {literal(y)} by the brick, {shown} by its rule"
        for x, y, (shown, key), first in told
        if key != wire_bytes(first)
    ]


def answered(second: Implementation, wire: Any) -> tuple[str, bytes | None]:
    """What the second implementation gives: as text, and as canonical bytes where it is a value."""
    try:
        value = second(from_wire(wire))
        return literal(value), canonical_bytes(value)
    except IllegalValue as error:
        return str(error), None
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        return repr(error), None


def spread(by_level: Iterable[list[Any]], count: int) -> list[Any]:
    """About `count` in all, as many of each level as there are."""
    levels = list(by_level)
    return [x for inputs in levels for x in inputs[: -(-count // len(levels))]]


def test_every_brick_has_a_second_implementation_and_there_is_none_too_many() -> None:
    assert sorted(set(NAMES) - set(IMPLEMENTED)) == []
    assert sorted(set(IMPLEMENTED) - set(NAMES)) == []


@pytest.mark.parametrize("name", sorted(set(IMPLEMENTED) & set(NAMES)))
def test_both_agree(sandbox: Sandbox, bricks: dict[str, Brick], passed: list[Passed], name: str) -> None:
    brick, second = bricks[name], IMPLEMENTED[name]
    own = spread(drawn(sandbox, brick, INPUTS).values(), INPUTS)
    assert disagreements(sandbox, brick, second, own) == []
    assert disagreements(sandbox, brick, second, accepted(sandbox, brick, passed, INPUTS)) == []


def test_a_second_implementation_that_differs_is_told_with_both_answers(sandbox: Sandbox) -> None:
    (brick,) = inspected(sandbox, ["numbers/double"])
    assert disagreements(sandbox, brick, lambda x: 2 * x, [3, -4]) == []
    assert disagreements(sandbox, brick, lambda x: x * x, [2, 3]) == ["3 is 6 by the brick, 9 by its rule"]
    assert disagreements(sandbox, brick, lambda x: x > 1, [3]) == ["3 is 6 by the brick, True by its rule"]
    assert len(disagreements(sandbox, brick, lambda x: x / 0, [3])) == 1
