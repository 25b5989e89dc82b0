"""Every brick is implemented a second time, from its rule and inputs alone; where both differ, the rule is at fault."""

from contextlib import suppress
from copy import deepcopy
from functools import cache

import pytest

from envpool.signatures import IllegalValue, canonical_bytes, literal
from tests.envpool.composition import in_process
from tests.envpool.composition.in_process import Brick, Endless, Refused, bricks
from tests.envpool.second.known import IMPLEMENTED, NAMES, Implementation
from tests.envpool.second.trials import Passed, accepted, drawn, passed_on, refused

INPUTS = 50
"""Inputs of each level, and as many that other bricks pass on."""

REFUSED = 20
"""Values of other bricks that a brick does not accept, and what is asked all the same."""
UNCOVERED = {
    "no day of the calendar": (
        "dates/day_number", "dates/day_of_year", "dates/month_later", "dates/month_length", "dates/next_day",
        "dates/next_days", "dates/weekday", "dates/weekday_and_day",
    ),
    "no table, or a table that is not square": (
        "matrices/best_path", "matrices/column_sums", "matrices/determinant", "matrices/diagonal",
        "matrices/is_symmetric", "matrices/matrix_square", "matrices/quarter_turn", "matrices/spiral",
        "matrices/transpose", "simulation/way_of_the_larger",
    ),
    "no such entry": ("matrices/count_into_table",),
    "lists of different length": (
        "matrices/dot_product", "matrices/larger_at_each_place", "matrices/rows_times_list",
    ),
    "no text of the form that it speaks of": (
        "ciphers/key_word", "encoding/read_binary", "parsing/left_to_right", "parsing/read_roman",
        "parsing/write_postfix",
    ),
    "a number below the first": (
        "algorithms/fewest_coins", "encoding/column_name", "number_theory/base_three_digits",
        "number_theory/count_divisors", "parsing/write_roman",
    ),
    "nothing to start from": ("algorithms/follow", "sets/in_all_rows", "simulation/jumps"),
}  # fmt: skip
"""Bricks that are handed values which their rule is not about, by what these are: any answer, or none, is right."""

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


@pytest.mark.parametrize(
    "name", sorted(BRICKS.keys() - {name for names in UNCOVERED.values() for name in names})
)
def test_what_a_brick_does_not_accept_it_answers_by_its_rule_all_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer to SORT or SELECT may lead there, and no prompt tells what is accepted."""
    monkeypatch.setattr(in_process, "CPU_SECONDS", 0.1)
    brick, second = BRICKS[name], IMPLEMENTED[name]
    for x in refused(brick, passed(), REFUSED):
        try:
            expected = brick.answered_by(second, deepcopy(x))
        except Endless:
            break  # the larger ones take no less
        except Refused:
            continue
        with suppress(Endless):
            assert literal(brick.proposed(deepcopy(x))) == literal(expected), literal(x)


def test_a_second_implementation_that_differs_is_told_with_both_answers() -> None:
    double = BRICKS["numbers/double"]
    assert disagreements(double, lambda x: 2 * x, [3, -4]) == []
    assert disagreements(double, lambda x: x * x, [2, 3]) == ["3 is 6 by the brick, 9 by its rule"]
    assert disagreements(double, lambda x: x > 1, [3]) == ["3 is 6 by the brick, True by its rule"]
    assert len(disagreements(double, lambda x: x / 0, [3])) == 1
