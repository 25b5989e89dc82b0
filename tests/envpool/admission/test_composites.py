from dataclasses import replace
from typing import Any

import pytest

from envpool.admission.composites import fuses, is_no_guess
from envpool.admission.verdict import Refusal
from envpool.composition.fusion import fuse
from envpool.members import Composite, Member, Origin
from tests.envpool.composition.simulated import AddOne, AnyDivisor, Digits, Double, Square, Total, member

POOL = {each.id: each for each in map(member, (AddOne, AnyDivisor, Digits, Double, Square, Total))}


def programs(*classes: type) -> list[Any]:
    return [member(each).material for each in classes]


def refusal(composite: Composite) -> Refusal:
    with pytest.raises(Refusal) as caught:
        fuses(composite, POOL.get)
    assert caught.value.gate == "types"
    return caught.value


@pytest.mark.parametrize(
    "composite",
    [
        fuse("SEQUENTIAL", [programs(Double, Digits, Total)]),
        fuse("PARALLEL", [programs(Double), programs(AnyDivisor), programs(Digits, Total)]),
        fuse("SORT", [programs(Double, AddOne)]),
        fuse("SELECT", [programs(Double, AddOne)], programs(Square, Digits)),
    ],
)
def test_a_composite_of_known_programs_whose_types_fit_passes(composite: Composite) -> None:
    fuses(composite, POOL.get)


def test_a_composite_whose_types_do_not_fit_is_refused_with_the_step() -> None:
    bad = Composite("SEQUENTIAL", ((member(Digits).id, member(Double).id),), "int", "int")
    assert "Double takes int, and Digits before it gives list[int]" in refusal(bad).reason


def test_a_composite_that_declares_other_types_than_it_has_is_refused() -> None:
    right = fuse("SORT", [programs(Double, AddOne)])
    assert (
        "it declares int -> str, and its parts make int -> int"
        in refusal(replace(right, codomain="str")).reason
    )


def test_a_part_that_is_unknown_or_composed_is_refused() -> None:
    inner = Member(fuse("SORT", [programs(Double, AddOne)]), Origin.COMPOSER)
    for part, told in (("p0", "not in the pool"), (inner.id, "a composite")):
        composite = Composite("SEQUENTIAL", ((member(Double).id, part),), "int", "int")
        with pytest.raises(Refusal, match=f"its part {part} is {told}"):
            fuses(composite, {**POOL, inner.id: inner}.get)


@pytest.mark.parametrize(
    ("operator", "rate", "admitted"),
    [
        ("SORT", 0.5, True),
        ("SORT", 0.51, False),
        ("SORT", None, False),
        ("SORT", "0.1", False),
        ("SORT", -1, False),
        ("SELECT", 0.1, True),
        ("SELECT", 0.11, False),
        ("SELECT", None, False),
        ("SEQUENTIAL", None, True),
        ("PARALLEL", None, True),
    ],
)
def test_where_an_order_is_asked_for_a_guess_rate_within_the_limit_must_have_been_measured(
    operator: Any, rate: Any, admitted: bool
) -> None:
    composite = fuse(operator, [programs(Double, AddOne)], programs(Square) if operator == "SELECT" else ())
    candidate = Member(composite, Origin.COMPOSER, evidence={} if rate is None else {"guess_rate": rate})
    if admitted:
        is_no_guess(candidate)
    else:
        with pytest.raises(Refusal) as caught:
            is_no_guess(candidate)
        assert caught.value.gate == "guess"
