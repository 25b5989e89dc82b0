"""Guess rates over the simulated executor, against running every order here."""

from itertools import pairwise, permutations

import pytest

from envpool.composition.fusion import fuse
from envpool.composition.guess_rates import GUESS_LIMITS, ORDERS, GuessRate, guess_rate, hopeless
from envpool.composition.instances import INSTANCES
from envpool.contract import Recipe
from envpool.execution import Examiner
from envpool.members import Composite, Member, Origin, Program
from envpool.sandbox.results import InfrastructureFault
from tests.envpool.composition.simulated import (
    PROGRAMS,
    AddOne,
    Digits,
    Double,
    HangsOnOdd,
    Raises,
    SimulatedExecutor,
    Square,
    Total,
    Triple,
    member,
)

BRICKS: dict[str, Program] = {member(each).id: member(each).material for each in PROGRAMS}  # type: ignore[misc]
MEMBERS = {member(each).id: member(each) for each in PROGRAMS}
CLASSES = {member(each).id: each for each in PROGRAMS}


def fused(operator: str, chain: tuple[type, ...], distractors: tuple[type, ...] = ()) -> Composite:
    return fuse(
        operator,
        [[BRICKS[member(each).id] for each in chain]],
        [BRICKS[member(each).id] for each in distractors],
    )


def examiner_of(composite: Composite) -> Examiner:
    pool = {**MEMBERS, composite.id: Member(composite, Origin.COMPOSER)}
    return Examiner(SimulatedExecutor(), pool.__getitem__)


async def measured(composite: Composite, level: int = 1) -> GuessRate | None:
    return await guess_rate(SimulatedExecutor(), composite, MEMBERS.__getitem__, level)


async def expected(composite: Composite, level: int, instances: int) -> tuple[list[int], int]:
    """Of each instance the orders that score, and of all the orders that fit, each order run here."""
    counts, fitting = [], 0
    for seed in range(instances):
        scored = 0
        instance = await examiner_of(composite).build(Recipe(composite.id, seed, level))
        x, y = instance.inputs[0]["t"]
        for order in permutations(composite.parts, composite.size):
            steps = [BRICKS[each] for each in order]
            inner = all(before.codomain == after.domain for before, after in pairwise(steps))
            if inner and (steps[0].domain, steps[-1].codomain) == (composite.domain, composite.codomain):
                fitting += 1
                value = x
                for each in order:
                    value = CLASSES[each]().solve(value)
                scored += value == y
        counts.append(scored)
    return counts, fitting


@pytest.mark.parametrize(
    "composite",
    [
        fused("SORT", (Double, AddOne)),
        fused("SORT", (Double, Triple)),
        fused("SORT", (Double, AddOne, Square)),
        fused("SORT", (AddOne, Digits, Total, Double)),
        fused("SELECT", (Double, AddOne), (Square, Triple)),
        fused("SELECT", (Double, Digits, Total), (AddOne, Square)),
    ],
)
async def test_the_rate_is_the_share_of_type_fitting_orders_that_reach_the_output(
    composite: Composite,
) -> None:
    found = await measured(composite)
    assert found is not None
    scored, orders = await expected(composite, 1, len(found.scored))
    assert (list(found.scored), found.orders) == (scored, orders)
    assert found.rate == max(sum(scored) / orders, 1 / found.fitting)
    assert found.to_evidence()["guess_rate"] == found.rate


async def test_a_sort_of_steps_that_may_be_swapped_is_guessed_too_well_and_another_is_not() -> None:
    commuting, fixed = (
        await measured(fused("SORT", (Double, Triple))),
        await measured(fused("SORT", (Double, AddOne))),
    )
    assert commuting is not None and fixed is not None
    assert commuting.rate == 1.0 > GUESS_LIMITS["SORT"]
    assert fixed.rate == 0.5 <= GUESS_LIMITS["SORT"]


async def test_many_orders_are_sampled_alike_whenever_they_are_measured() -> None:
    composite = fused(
        "SELECT",
        (Double, AddOne, Square),
        (Triple, *(each for each in PROGRAMS if each.__name__ in ("HalfOfEven", "LastDigit"))),
    )
    first = await measured(composite, 2)
    assert first is not None and first.orders < INSTANCES * first.fitting == INSTANCES * 6 * 5 * 4
    assert await measured(composite, 2) == first


async def test_where_few_orders_fit_more_instances_are_looked_at() -> None:
    few, some = (
        await measured(fused("SORT", (Double, AddOne))),
        await measured(fused("SORT", (Double, Triple, AddOne))),
    )
    assert few is not None and some is not None
    assert (few.fitting, len(few.scored), some.fitting, len(some.scored)) == (2, 96, 6, 32)
    assert few.orders == some.orders == ORDERS


async def test_what_is_guessed_too_well_already_is_looked_at_no_longer() -> None:
    found = await measured(fused("SORT", (Double, Triple)))
    assert found is not None and len(found.scored) == INSTANCES and found.rate > GUESS_LIMITS["SORT"]


def test_a_rate_is_safely_within_a_limit_only_where_its_instances_agree() -> None:
    alike = GuessRate((1,) * 96, 192, 2)
    once_both = GuessRate((1,) * 95 + (2,), 192, 2)
    assert alike.rate == alike.bound == 0.5 < once_both.rate < once_both.bound
    even, uneven = GuessRate((1,) * 16, 192, 24), GuessRate((4, 0, 0, 0) * 4, 192, 24)
    assert even.rate == uneven.rate < GUESS_LIMITS["SELECT"] < uneven.bound


def test_where_types_leave_too_few_orders_nothing_needs_to_be_run() -> None:
    for composite, too_few in (
        (fused("SORT", (Digits, Total)), True),
        (fused("SORT", (Double, AddOne)), False),
        (fused("SELECT", (Double, AddOne), (Square,)), True),
        (fused("SELECT", (Double, AddOne), (Square, Triple)), False),
    ):
        assert hopeless(composite, [BRICKS[part] for part in composite.parts]) == too_few


async def test_without_an_instance_or_with_a_kill_there_is_no_rate() -> None:
    assert await measured(fused("SORT", (Double, Raises))) is None
    assert await measured(fused("SORT", (HangsOnOdd, AddOne))) is None


async def test_a_broken_machine_is_no_rate_but_its_fault() -> None:
    composite, executor = fused("SORT", (Double, AddOne)), SimulatedExecutor()
    executor.broken = True
    with pytest.raises(InfrastructureFault):
        await guess_rate(executor, composite, MEMBERS.__getitem__, 1)
