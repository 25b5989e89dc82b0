"""Guess rates over the simulated executor, against running every order here."""

import random
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.composition import guess_rates
from envpool.composition.fusion import fuse
from envpool.composition.guess_rates import GUESS_LIMITS, LEAST, ORDERS, GuessRate, guess_rate, hopeless
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
    HalfOfEven,
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
    composite: Composite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guess_rates, "AN_INSTANCE", 12)
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


def test_a_rate_is_within_a_limit_where_an_instance_that_was_not_met_does_not_matter() -> None:
    limit = GUESS_LIMITS["SELECT"]
    seldom, few = GuessRate((0, 0, 1, 0) * 16, 384, 40), GuessRate((0, 0, 1, 0) * 4, 96, 40)
    assert seldom.rate == few.rate and seldom.is_within(limit) and not few.is_within(limit)
    even, uneven = GuessRate((0, 0, 1) * 32, 576, 40), GuessRate((6, *([0] * 17)) * 5 + (0,) * 6, 576, 40)
    assert abs(even.rate - uneven.rate) < 0.01 and even.is_within(limit) and not uneven.is_within(limit)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.integers(1, 6))
def test_a_bound_lies_above_the_rate_and_comes_nearer_with_more_of_the_same(
    scored: list[int], more: int
) -> None:
    once = GuessRate(tuple(scored), 6 * len(scored), 6)
    again = GuessRate(tuple(scored * (1 + more)), 6 * len(scored) * (1 + more), 6)
    assert again.rate == pytest.approx(once.rate)
    assert again.rate <= again.bound <= once.bound + 1e-9


def test_of_two_orders_the_other_must_never_have_scored() -> None:
    limit = GUESS_LIMITS["SORT"]
    assert GuessRate((1,) * 96, 192, 2).is_within(limit)
    assert not GuessRate((1,) * 95 + (2,), 192, 2).is_within(limit)


async def test_rare_instances_on_which_every_order_is_right_are_not_overlooked_for_long() -> None:
    """Each of the true rates is above the limit for one instance in eight, which a few instances do not show."""
    rng, most = random.Random("rare"), LEAST["SELECT"]
    drawn = [[6 if rng.random() < 0.125 else 0 for _ in range(most)] for _ in range(1000)]
    passed = sum(GuessRate(tuple(each), 6 * most, 60).is_within(GUESS_LIMITS["SELECT"]) for each in drawn)
    assert passed / len(drawn) < 0.05


def test_where_types_leave_too_few_orders_nothing_needs_to_be_run() -> None:
    for composite, too_few in (
        (fused("SORT", (Digits, Total)), True),
        (fused("SORT", (Double, AddOne)), False),
        (fused("SELECT", (Double, AddOne), (Square, Triple)), True),
        (fused("SELECT", (Double, AddOne), (Square, Triple, HalfOfEven)), False),
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
