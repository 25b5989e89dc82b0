"""Trials over the simulated executor: what they cost, and what is no verdict."""

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envpool.composition.problems import Trial
from envpool.composition.trials import CHAIN_LITERAL, outcomes
from envpool.members import Program
from envpool.sandbox.results import Call, Fault, FaultKind, InfrastructureFault, Result
from envpool.signatures import to_wire
from tests.envpool.composition.simulated import (
    AddOne,
    Double,
    EvenDigits,
    HalfOfEven,
    Hangs,
    HangsOnOdd,
    LastDigit,
    Letters,
    Power,
    Raises,
    SimulatedExecutor,
    Square,
    Triple,
    WrongType,
    member,
)

FUNCTIONS = (AddOne, Double, LastDigit, Square, Triple)


def trial(x: int, target: object, *classes: type) -> Trial:
    return Trial(tuple(member(each).material for each in classes), x, target)  # type: ignore[misc]


async def run(trials: list[Trial], executor: SimulatedExecutor | None = None) -> list[bool | Fault]:
    running = executor or SimulatedExecutor()

    async def calls_of(program: Program, calls: list[Call]) -> list[Result]:
        return await running.run(program.source, calls)

    return await outcomes(calls_of, trials)


def computed(x: int, *classes: type) -> int:
    for each in classes:
        x = each().solve(x)
    return x


@given(st.integers(1, 50), st.lists(st.permutations(FUNCTIONS), min_size=1, max_size=6), st.integers(0, 5))
async def test_a_trial_succeeds_if_and_only_if_its_steps_lead_to_the_target(
    x: int, orders: list[list[type]], size: int
) -> None:
    target = computed(x, *orders[0][:size])
    told = await run([trial(x, target, *order[:size]) for order in orders])
    assert told == [computed(x, *order[:size]) == target for order in orders]


async def test_a_step_that_several_trials_share_is_run_once() -> None:
    executor = SimulatedExecutor()
    orders = list(permutations(FUNCTIONS, 3))
    await run([trial(7, 0, *order) for order in orders], executor)
    assert set(Counter((name, str(x)) for name, x in executor.solved).values()) == {1}


async def test_a_depth_costs_one_round_trip_a_program() -> None:
    executor = SimulatedExecutor()
    await run([trial(7, 0, *order) for order in permutations(FUNCTIONS, 3)], executor)
    assert executor.trips <= 3 * len(FUNCTIONS)


@pytest.mark.parametrize("bad", [Raises, WrongType])
async def test_a_step_that_every_machine_sees_fail_is_a_miss(bad: type) -> None:
    assert await run([trial(4, 4, bad, Double), trial(4, 8, Double)]) == [False, True]


async def test_a_step_is_run_on_what_it_does_not_accept_as_on_all_else() -> None:
    on_odd = [trial(3, 1, HalfOfEven), trial(3, 2, HalfOfEven)]
    assert await run([*on_odd, trial(4, 2, HalfOfEven)]) == [True, False, True]


async def test_a_value_too_long_for_the_next_step_is_a_miss_and_no_further_step_is_run() -> None:
    executor = SimulatedExecutor()
    long = 10 ** (100 * 5)
    assert len(str(long)) > CHAIN_LITERAL
    told = await run([trial(5, long, Power), trial(5, 2 * long, Power, Double)], executor)
    assert told == [True, False]  # the last value may be as long as it is
    assert [name for name, _ in executor.solved] == ["Power"]


async def test_a_kill_is_told_as_it_is_and_the_other_trials_go_on() -> None:
    told = await run([trial(4, 4, AddOne, Hangs, Double), trial(4, 10, AddOne, Double), trial(4, 3, Double)])
    killed, *others = told
    assert isinstance(killed, Fault) and killed.kind is FaultKind.CPU_LIMIT
    assert others == [True, False]


async def test_a_step_takes_an_empty_list_of_any_type_and_is_not_run_on_what_is_of_another_type() -> None:
    executor = SimulatedExecutor()
    trials = [trial(13, 0, EvenDigits, Letters), trial(24, 6, EvenDigits, Letters)]
    assert await run(trials, executor) == [True, False]
    assert [x for name, x in executor.solved if name == "Letters"] == [to_wire([])]


async def test_of_trials_that_share_a_program_a_kill_ends_only_those_on_the_same_value() -> None:
    on_odd, again, on_even = await run([trial(x, 2, HangsOnOdd) for x in (3, 3, 4)])
    assert isinstance(on_odd, Fault) and again is on_odd
    assert on_even is True


async def test_values_are_compared_with_their_types() -> None:
    assert await run([trial(4, True, LastDigit), trial(1, 1, LastDigit), trial(1, True, LastDigit)]) == [
        False,
        True,
        False,
    ]


async def test_without_steps_or_trials_nothing_is_run() -> None:
    executor = SimulatedExecutor()
    assert await run([], executor) == []
    assert await run([trial(4, 4), trial(4, 5)], executor) == [True, False]
    assert executor.trips == 0


async def test_a_broken_machine_is_no_outcome() -> None:
    executor = SimulatedExecutor()
    executor.broken = True
    with pytest.raises(InfrastructureFault):
        await run([trial(4, 8, Double)], executor)
