"""What a distractor must do on the draw of an instance, over the simulated executor."""

import pytest

from envpool.composition.fusion import fuse
from envpool.contract import Recipe
from envpool.execution import Examiner, ProgramFault
from envpool.members import Composite, Member, Origin
from envpool.sandbox.results import FaultKind
from tests.envpool.composition.simulated import (
    PROGRAMS,
    AddOne,
    Digits,
    Double,
    Hangs,
    LastDigit,
    Raises,
    SimulatedExecutor,
    Total,
    member,
)


def select(chain: tuple[type, ...], *distractors: type) -> Composite:
    steps, beside = ([member(each).material for each in classes] for classes in (chain, distractors))
    return fuse("SELECT", [steps], beside)  # type: ignore[arg-type, list-item]


def examiner_of(composite: Composite) -> Examiner:
    pool = {each.id: each for each in map(member, PROGRAMS)}
    pool[composite.id] = Member(composite, Origin.COMPOSER)
    return Examiner(SimulatedExecutor(), pool.__getitem__)


async def test_a_draw_on_which_a_distractor_gives_the_output_by_itself_is_passed_over() -> None:
    composite = select((Double, Digits, Total), LastDigit)
    examiner = examiner_of(composite)
    passed_over = set()
    for seed in range(150):
        instance = await examiner.build(Recipe(composite.id, seed, 1))
        x, y = instance.inputs[0]["t"]  # type: ignore[index, call-overload]
        assert y not in (x % 10, 2 * x % 10)
        passed_over |= {seed} if instance.recipe.attempt else set()
    assert passed_over  # as 25 is, whose double has digits that add up to 5


async def test_a_distractor_that_runs_on_no_value_of_any_draw_is_the_composite_s_fault() -> None:
    none = select((Double, AddOne), Raises)
    with pytest.raises(ProgramFault, match="runs on no value of the chain") as caught:
        await examiner_of(none).build(Recipe(none.id, 1, 1))
    assert caught.value.member == none.id


async def test_a_distractor_that_is_killed_is_the_composite_s_fault_at_once() -> None:
    composite = select((Double, AddOne), Hangs)
    with pytest.raises(ProgramFault) as caught:
        await examiner_of(composite).build(Recipe(composite.id, 1, 1))
    assert (caught.value.member, caught.value.fault.kind) == (composite.id, FaultKind.CPU_LIMIT)


async def test_a_draw_on_which_a_value_comes_twice_is_passed_over_where_an_order_is_asked_for() -> None:
    steps = [member(each).material for each in (Digits, Total)]
    sort = fuse("SORT", [[member(Double).material, *steps]])  # type: ignore[list-item]
    examiner = examiner_of(sort)
    for seed in range(40):
        instance = await examiner.build(Recipe(sort.id, seed, 0))
        x, y = instance.inputs[0]["t"]  # type: ignore[index, call-overload]
        assert len({x, 2 * x, y}) == 3
