import random
from dataclasses import replace
from itertools import pairwise

import pytest

from envpool.composition.chains import Chain, SearchSettings
from envpool.composition.quotas import Quotas
from envpool.composition.search import FrontierSearch
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
    assert len(hung) == SETTINGS.draws


async def test_a_start_that_ended_in_a_kill_is_never_tried_again() -> None:
    executor = SimulatedExecutor()
    search = FrontierSearch(executor, [member(Hangs)], SETTINGS)
    for seed in range(3):
        starts = [Recipe(member(Hangs).id, seed, 1)]
        assert [chain async for chain in search.chains(random.Random(seed), starts, Quotas(9))] == []
    assert len(executor.solved) == SETTINGS.draws


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


async def test_states_of_one_depth_share_the_round_trips_of_a_brick() -> None:
    executor = SimulatedExecutor()
    await found(GOOD, executor=executor)
    begin, extend = 4 * 3, 3 * len(GOOD) * 2
    assert executor.trips <= begin + extend
