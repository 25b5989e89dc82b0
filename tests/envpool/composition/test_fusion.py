from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.composition.fusion import IncompatibleTypes, fuse
from envpool.members import MemberError, OperatorName, Program
from tests.envpool.composition.simulated import (
    PROGRAMS,
    AddOne,
    AnyDivisor,
    Digits,
    Double,
    Square,
    Total,
    member,
)


def programs(*classes: type) -> list[Program]:
    return [member(each).material for each in classes]  # type: ignore[misc]


@given(st.lists(st.sampled_from(list(PROGRAMS)), min_size=2, max_size=5, unique=True))
def test_a_chain_fuses_if_and_only_if_its_types_fit_and_its_steps_are_functions(classes: list[type]) -> None:
    chain = programs(*classes)
    fits = all(before.codomain == after.domain for before, after in pairwise(chain))
    if fits and all(step.oracle == "equality" for step in chain):
        fused = fuse("SEQUENTIAL", [chain])
        assert (fused.domain, fused.codomain) == (chain[0].domain, chain[-1].codomain)
        assert fused.chains == (tuple(step.id for step in chain),)
    else:
        with pytest.raises(IncompatibleTypes):
            fuse("SEQUENTIAL", [chain])


@pytest.mark.parametrize("operator", ["SEQUENTIAL", "SORT", "SELECT", "PARALLEL"])
def test_a_misfit_is_named_with_both_types_whatever_the_operator(operator: OperatorName) -> None:
    with pytest.raises(IncompatibleTypes, match=r"Double takes int, and Digits before it gives list\[int\]"):
        fuse(operator, [programs(Digits, Double)], programs(Square) if operator == "SELECT" else ())


def test_a_relation_stands_alone_in_a_parallel_problem_and_is_no_step() -> None:
    assert fuse("PARALLEL", [programs(Double), programs(AnyDivisor)]).codomain == "tuple[int, int]"
    with pytest.raises(IncompatibleTypes, match="AnyDivisor has no one right output"):
        fuse("SEQUENTIAL", [programs(Double, AnyDivisor)])
    with pytest.raises(IncompatibleTypes, match="AnyDivisor has no one right output"):
        fuse("SELECT", [programs(Double, AddOne)], programs(AnyDivisor))


def test_a_distractor_must_fit_some_step_of_the_chain() -> None:
    with pytest.raises(IncompatibleTypes, match=r"the distractor Total takes list\[int\]"):
        fuse("SELECT", [programs(Double, AddOne)], programs(Total))
    fused = fuse("SELECT", [programs(Double, AddOne)], programs(Square, Digits))
    assert set(fused.distractors) == {member(Square).id, member(Digits).id}
    assert fused == fuse("SELECT", [programs(Double, AddOne)], programs(Digits, Square))


@pytest.mark.parametrize(
    ("operator", "chains", "distractors"),
    [
        ("SELECT", [(Double, AddOne)], ()),
        ("SORT", [(Double, AddOne)], (Square,)),
        ("SORT", [(Double,)], ()),
        ("SORT", [(Double, AddOne), (Square, Double)], ()),
        ("SORT", [(Double, AddOne, Double)], ()),
        ("SELECT", [(Double, AddOne)], (Double,)),
        ("SEQUENTIAL", [], ()),
    ],
)
def test_a_form_that_an_operator_has_not_is_refused(
    operator: OperatorName, chains: list[tuple[type, ...]], distractors: tuple[type, ...]
) -> None:
    with pytest.raises(MemberError):
        fuse(operator, [programs(*chain) for chain in chains], programs(*distractors))
