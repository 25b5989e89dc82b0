import random
from dataclasses import replace
from itertools import pairwise

import pytest

from envpool.composition.chains import Chain, SearchSettings
from envpool.composition.quotas import Quotas
from envpool.composition.search import HEARD, FrontierSearch
from envpool.contract import Recipe
from envpool.sandbox.results import InfrastructureFault
from envpool.signatures import from_wire, literal
from tests.envpool.composition.simulated import (
    AddOne,
    AnyDivisor,
    Digits,
    Double,
    HalfOfEven,
    Hangs,
    Power,
    Raises,
    Same,
    SimulatedExecutor,
    Total,
    Triple,
    WrongType,
    Zero,
    member,
)

GOOD = (AddOne, Digits, Double, HalfOfEven, Total)
SETTINGS = SearchSettings(depth=4, agreeing=2)


def ids(*programs: type) -> set[str]:
    return {member(each).id for each in programs}


async def found(
    programs: tuple[type, ...],
    start: type = Double,
    *,
    seed: int = 0,
    quota: int = 100,
    settings: SearchSettings = SETTINGS,
    executor: SimulatedExecutor | None = None,
    level: int = 1,
) -> list[Chain]:
    search = FrontierSearch(executor or SimulatedExecutor(), [member(each) for each in programs], settings)
    starts = [Recipe(member(start).id, seed + n, level) for n in range(4)]
    return [chain async for chain in search.chains(random.Random(seed), starts, Quotas(quota))]


async def test_chains_of_every_size_up_to_the_depth_are_found_in_order_of_size() -> None:
    sizes = [chain.size for chain in await found(GOOD)]
    assert sizes == sorted(sizes)
    assert set(sizes) == {1, 2, 3, 4}


async def test_the_types_of_a_chain_fit_and_no_brick_comes_twice() -> None:
    by_id = {member(each).id: member(each).material for each in GOOD}
    for chain in await found(GOOD):
        steps = [by_id[each] for each in chain.members]
        assert all(a.codomain == b.domain for a, b in pairwise(steps))
        assert (chain.domain, chain.codomain) == (steps[0].domain, steps[-1].codomain)
        assert len(set(chain.members)) == chain.size == len(chain.values) - 1


async def test_the_values_of_a_chain_are_what_its_bricks_gave() -> None:
    by_id = {member(each).id: each for each in GOOD}
    for chain in await found(GOOD):
        for brick, x, y in zip(chain.members, chain.values, chain.values[1:], strict=False):
            assert by_id[brick]().accepts(from_wire(x))
            assert by_id[brick]().solve(from_wire(x)) == from_wire(y)


async def test_the_same_seed_finds_the_same_chains_and_another_seed_others() -> None:
    assert await found(GOOD, seed=1) == await found(GOOD, seed=1)
    assert await found(GOOD, seed=1) != await found(GOOD, seed=2)


@pytest.mark.parametrize("bad", [Same, Zero, Raises, WrongType, Hangs, Power])
async def test_a_step_that_fails_or_does_nothing_is_dropped_on_the_spot(bad: type) -> None:
    chains = await found((*GOOD, bad))
    assert chains
    assert not any(ids(bad) & set(chain.members) for chain in chains)


@pytest.mark.parametrize("bad", [Same, Zero, Raises, WrongType, Hangs, Power])
async def test_a_start_that_fails_or_does_nothing_gives_no_chain(bad: type) -> None:
    assert await found((*GOOD, bad), start=bad) == []


async def test_no_value_comes_back_within_a_chain() -> None:
    for chain in await found(GOOD, settings=replace(SETTINGS, depth=5)):
        shown = [literal(from_wire(value)) for value in chain.values]
        assert len(set(shown)) == len(shown)


async def test_values_stay_short() -> None:
    chains = await found(GOOD, settings=replace(SETTINGS, max_literal=2), level=0)
    assert chains
    assert all(len(literal(from_wire(value))) <= 2 for chain in chains for value in chain.values)


async def test_a_brick_is_not_run_on_what_it_does_not_accept() -> None:
    executor = SimulatedExecutor()
    chains = await found(GOOD, executor=executor)
    halved = [x for name, x in executor.solved if name == "HalfOfEven"]
    assert halved and all(x % 2 == 0 for x in halved)
    assert any(ids(HalfOfEven) & set(chain.members) for chain in chains)


async def test_an_edge_that_ended_in_a_kill_is_never_tried_again() -> None:
    executor = SimulatedExecutor()
    search = FrontierSearch(executor, [member(Double), member(Hangs)], SETTINGS)
    for seed in range(3):
        starts = [Recipe(member(Double).id, seed, 1)]
        assert [c.size async for c in search.chains(random.Random(seed), starts, Quotas(9))] == [1]
    assert search.killed_edges == {(member(Double).id, member(Hangs).id)}
    hung = [x for name, x in executor.solved if name == "Hangs"]
    assert len(hung) == 1 + SETTINGS.draws, "once together with others, and then each draw alone"


async def test_a_start_that_ended_in_a_kill_is_never_tried_again() -> None:
    executor = SimulatedExecutor()
    search = FrontierSearch(executor, [member(Hangs)], SETTINGS)
    for seed in range(3):
        starts = [Recipe(member(Hangs).id, seed, 1)]
        assert [chain async for chain in search.chains(random.Random(seed), starts, Quotas(9))] == []
    assert len(executor.solved) == 1 + SETTINGS.draws


async def test_an_edge_that_the_clock_ended_is_tried_again_by_the_next_search() -> None:
    executor = SimulatedExecutor()
    search = FrontierSearch(executor, [member(Double), member(AddOne), member(Triple)], SETTINGS)

    async def members(seed: int) -> set[str]:
        starts = [Recipe(member(Double).id, seed, 1)]
        chains = [chain async for chain in search.chains(random.Random(seed), starts, Quotas(9))]
        return {id for chain in chains for id in chain.members}

    executor.late = {"AddOne"}
    for seed in range(4):
        assert await members(seed) == ids(Double, Triple)
    assert not search.killed_edges and not search.is_apart
    executor.late = set()
    assert await members(4) == ids(Double, Triple, AddOne)


async def test_a_chain_that_the_clock_kept_from_being_confirmed_speaks_against_nobody() -> None:
    executor = SimulatedExecutor()
    search = FrontierSearch(executor, [member(Double), member(AddOne)], SETTINGS)
    starts = [Recipe(member(Double).id, 0, 1)]
    chains = [chain async for chain in search.chains(random.Random(0), starts, Quotas(9))]
    executor.late = {"AddOne"}
    assert [chain is None for chain in await search.confirmed(chains)] == [False, True]
    assert not search.is_apart and not search.killed_edges


async def test_only_functions_stand_inside_a_chain() -> None:
    chains = await found((*GOOD, AnyDivisor))
    assert not any(ids(AnyDivisor) & set(chain.members) for chain in chains)
    alone = await found((*GOOD, AnyDivisor), start=AnyDivisor)
    assert {chain.members for chain in alone} == {(member(AnyDivisor).id,)}


async def test_members_held_out_are_no_bricks() -> None:
    held_out = replace(member(AddOne), held_out=True)
    search = FrontierSearch(SimulatedExecutor(), [member(Double), held_out], SETTINGS)
    assert search.bricks == [member(Double).id]


async def test_a_brick_whose_quota_is_spent_extends_nothing() -> None:
    search = FrontierSearch(SimulatedExecutor(), [member(each) for each in GOOD], SETTINGS)
    quotas = Quotas(1)
    quotas.spend(ids(AddOne, Digits))
    starts = [Recipe(member(Double).id, 0, 1)]
    chains = [chain async for chain in search.chains(random.Random(0), starts, quotas)]
    assert not any(ids(AddOne, Digits) & set(chain.members) for chain in chains)


async def test_the_frontier_and_the_expansions_bound_the_work() -> None:
    settings = replace(SETTINGS, expansions=2, frontier=3)
    chains = await found(GOOD, settings=settings)
    for size in (2, 3, 4):
        assert sum(chain.size == size for chain in chains) <= 6


async def test_a_broken_machine_ends_the_search_with_its_fault() -> None:
    executor = SimulatedExecutor()
    executor.broken = True
    with pytest.raises(InfrastructureFault):
        await found(GOOD, executor=executor)


async def test_a_search_is_one_round_trip_and_those_of_a_few_steps_that_did_not_run() -> None:
    executor = SimulatedExecutor()
    await found(GOOD, executor=executor)
    begin, extend = 3, 2 * (SETTINGS.depth - 1)
    assert executor.trips <= 1 + HEARD * (begin + extend)


async def test_states_of_one_depth_share_the_round_trips_of_a_brick_that_has_its_own_child() -> None:
    executor = SimulatedExecutor()
    search = FrontierSearch(executor, [member(each) for each in GOOD], SETTINGS)
    starts = [Recipe(member(Double).id, n, 1) for n in range(4)]
    chains = [chain async for chain in search.chains(random.Random(0), starts, Quotas(100))]
    executor.trips = 0
    assert None not in await search.confirmed(chains)
    begin, extend, siblings = 3 * len(chains), 3 * len(GOOD) * 2, len(GOOD) * 2
    assert executor.trips <= begin + extend + siblings


async def test_siblings_are_bricks_that_ran_beside_the_chain_on_one_of_its_states() -> None:
    chains = await found(GOOD)
    by_id = {member(each).id: each for each in GOOD}
    assert any(chain.siblings for chain in chains)
    for chain in chains:
        assert not set(chain.siblings) & set(chain.members)
        for sibling in chain.siblings:
            domain = member(by_id[sibling]).material.domain
            outputs = [
                from_wire(value)
                for brick, value in zip(chain.members, chain.values[1:], strict=True)
                if member(by_id[brick]).material.codomain == domain
            ]
            assert any(by_id[sibling]().accepts(x) for x in outputs)


async def test_chains_of_honest_bricks_are_confirmed_as_they_are() -> None:
    search = FrontierSearch(SimulatedExecutor(), [member(each) for each in (*GOOD, AnyDivisor)], SETTINGS)
    starts = [Recipe(member(each).id, 0, 1) for each in (Double, AnyDivisor, Total)]
    chains = [chain async for chain in search.chains(random.Random(0), starts, Quotas(100))]
    assert chains and await search.confirmed(chains) == chains


async def test_what_its_bricks_do_not_give_is_not_confirmed_and_makes_the_search_go_apart() -> None:
    executor = SimulatedExecutor()
    search = FrontierSearch(executor, [member(each) for each in GOOD], SETTINGS)
    starts = [Recipe(member(Double).id, 0, 1)]
    chain, *others = [chain async for chain in search.chains(random.Random(0), starts, Quotas(100))]
    false = replace(chain, values=(*chain.values[:-1], 1))
    assert not search.is_apart
    assert await search.confirmed([false, *others]) == [None, *others]
    assert search.is_apart
    executor.trips = 0
    again = [chain async for chain in search.chains(random.Random(0), starts, Quotas(100))]
    assert again == [chain, *others] and executor.trips > 1
    search.use([member(each) for each in GOOD[1:]])
    assert not search.is_apart, "one of those among which it must be has left"


async def test_a_sibling_that_does_not_run_is_left_out_when_its_chain_is_confirmed() -> None:
    search = FrontierSearch(SimulatedExecutor(), [member(each) for each in (*GOOD, Raises)], SETTINGS)
    starts = [Recipe(member(Double).id, 0, 1)]
    chains = [chain async for chain in search.chains(random.Random(0), starts, Quotas(100))]
    chain = next(each for each in chains if each.siblings)
    claimed = replace(chain, siblings=(*chain.siblings, member(Raises).id))
    assert await search.confirmed([claimed]) == [chain]


async def test_a_chain_whose_brick_has_left_is_not_confirmed_and_nobody_is_blamed() -> None:
    search = FrontierSearch(SimulatedExecutor(), [member(each) for each in GOOD], SETTINGS)
    starts = [Recipe(member(Double).id, 0, 1)]
    chains = [chain async for chain in search.chains(random.Random(0), starts, Quotas(100))]
    search.use([member(each) for each in GOOD if each is not Double])
    assert set(await search.confirmed(chains)) == {None}
    assert not search.is_apart


async def test_a_weight_multiplies_the_chance_of_a_brick_and_zero_keeps_it_out() -> None:
    async def uses(weight: float) -> int:
        search = FrontierSearch(
            SimulatedExecutor(), [member(each) for each in GOOD], replace(SETTINGS, expansions=1)
        )
        search.use([member(each) for each in GOOD], lambda id: weight if id == member(Digits).id else 1.0)
        starts = [Recipe(member(Double).id, n, 1) for n in range(12)]
        chains = [chain async for chain in search.chains(random.Random(0), starts, Quotas(9))]
        return sum(member(Digits).id in chain.members for chain in chains)

    assert await uses(0.0) == 0 < await uses(1.0) < await uses(50.0)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_weight_that_is_none_is_refused_by_its_brick(weight: float) -> None:
    search = FrontierSearch(SimulatedExecutor(), [], SETTINGS)
    with pytest.raises(ValueError, match=member(Double).id):
        search.use([member(Double)], lambda id: weight)


async def test_a_large_pool_is_searched_by_as_many_of_its_bricks_as_one_search_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("envpool.composition.search.BRICKS_A_SEARCH", 2)
    chains = await found(GOOD)
    assert {id for chain in chains for id in chain.members} == {
        member(Double).id, *(id for chain in chains for id in chain.members[1:2])
    }  # fmt: skip
    assert max(chain.size for chain in chains) == 2


async def test_a_bundle_is_as_large_as_a_sandbox_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envpool.composition.search.MAX_BUNDLE", 250)
    chains = await found(GOOD)
    assert chains and max(chain.size for chain in chains) <= 2
