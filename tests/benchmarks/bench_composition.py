"""Composition: chains and composites a second with all bricks of a search in one child, against the same search at a
sandbox call a step; and instances a second from recipes. Over pools of 50, 300 and 3,000 bricks.

Both searches take the same walk and find the same chains, which is checked. Rates are per second of CPU time of this
process and all its children, so they are those of one core, whatever else the machine does; what the sandboxes cost to
start is measured and taken off. The pool of 3,000 has copies under other names.
"""

import asyncio
import itertools
import random
import re
import resource
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar
from unittest.mock import patch

from envpool.composition.chains import Chain, SearchSettings
from envpool.composition.composer import Composer
from envpool.composition.quotas import Quotas
from envpool.composition.search import FrontierSearch
from envpool.composition.together import REPLICA
from envpool.contract import Recipe
from envpool.execution import Examiner
from envpool.members import Member, Program
from envpool.sandbox import Call, LocalExecutor
from tests.envpool.composition.bricks import shipped_bricks
from tests.envpool.composition.searching import PlainSearch

POOLS = (50, 300, 3000)
SEARCHES = 4
STARTS = 16
KEPT = 24
PROPOSALS = 24
INSTANCES = 8

T = TypeVar("T")
Work = Callable[[LocalExecutor], Awaitable[T]]
Searches = type[FrontierSearch]


async def measured(work: Work[T]) -> tuple[T, float]:
    """What a piece of work gives, and the CPU seconds that it took, sandboxes and their start included."""
    executor = LocalExecutor()
    before = _cpu()
    try:
        for replica in (0, REPLICA):
            await executor.run("", [Call("inspect")], replica=replica)
        done = await work(executor)
    finally:
        executor.close()
    return done, _cpu() - before


def _cpu() -> float:
    """CPU seconds of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def copies(bricks: Sequence[Member]) -> Iterator[Member]:
    """The bricks, and then copies of them under other names, without end."""
    yield from bricks
    for number in itertools.count(2):
        for brick in bricks:
            program = brick.material
            assert isinstance(program, Program)
            name = f"{program.name}{number}"
            source = re.sub(rf"\b{program.name}\b", name, program.source)
            yield replace(brick, material=replace(program, source=source, name=name))


async def searched(executor: LocalExecutor, bricks: Sequence[Member], kind: Searches) -> list[list[Chain]]:
    """The chains of two steps and more of a few searches."""
    search, found = kind(executor, bricks, SearchSettings()), []
    for seed in range(SEARCHES):
        rng = random.Random(seed)
        starts = [Recipe(brick.id, seed, 0) for brick in rng.sample(bricks, STARTS)]
        chains = [chain async for chain in search.chains(rng, starts, Quotas(100))]
        found.append([chain for chain in chains if chain.size > 1])
    return found


async def confirmed(executor: LocalExecutor, bricks: Sequence[Member], chains: Sequence[Chain]) -> int:
    """How many chains are confirmed, asked as a composer asks: one after the other."""
    search = FrontierSearch(executor, bricks, SearchSettings())
    held = [await search.confirmed([replace(chain, siblings=())]) for chain in chains]
    return sum(chain is not None for (chain,) in held)


async def proposed(executor: LocalExecutor, bricks: Sequence[Member], kind: Searches) -> list[Member]:
    with patch("envpool.composition.composer.FrontierSearch", kind):
        return await Composer(executor, bricks).propose(PROPOSALS)


async def built(executor: LocalExecutor, bricks: Sequence[Member], made: Sequence[Member]) -> int:
    """How many instances were built, a few of each composite, as its stock is filled."""
    pool = {each.id: each for each in [*bricks, *made]}
    examiner = Examiner(executor, pool.__getitem__)
    for composite in made:
        for seed in range(INSTANCES):
            await examiner.build(Recipe(composite.id, seed, 0))
    return len(made) * INSTANCES


async def report(bricks: Sequence[Member], idle: float) -> None:
    """Print the rates over one pool."""
    together, fast = await measured(lambda executor: searched(executor, bricks, FrontierSearch))
    apart, slow = await measured(lambda executor: searched(executor, bricks, PlainSearch))
    assert together == apart, "both searches take the same walk"
    fast, slow = fast - idle, slow - idle
    found = [chain for chains in together for chain in chains]
    print(f"{len(bricks)} bricks: {len(found)} chains of {SEARCHES} searches")
    print(f"  chains a second, all bricks in one child: {len(found) / fast:.0f}")
    print(f"  chains a second, a sandbox call a step:   {len(found) / slow:.0f}; ratio {slow / fast:.1f}x")
    kept = random.Random(0).sample(found, KEPT)
    count, cost = await measured(lambda executor: confirmed(executor, bricks, kept))
    assert count == KEPT
    print(f"  chains confirmed a second, one brick a child: {count / (cost - idle):.0f}")
    made, fast = await measured(lambda executor: proposed(executor, bricks, FrontierSearch))
    again, slow = await measured(lambda executor: proposed(executor, bricks, PlainSearch))
    assert made == again
    fast, slow = fast - idle, slow - idle
    print(
        f"  composites a second, four operators, confirmed and with guess rates: {len(made) / fast:.1f}, "
        f"with a sandbox call a step {len(again) / slow:.1f}; ratio {slow / fast:.1f}x"
    )
    count, cost = await measured(lambda executor: built(executor, bricks, made))
    print(f"  instances a second from recipes: {count / (cost - idle):.0f}")


async def compare() -> None:
    shipped, _ = await measured(shipped_bricks)
    _, idle = await measured(lambda executor: asyncio.sleep(0))
    order = random.Random(0).sample(shipped, len(shipped))
    for size in POOLS:
        await report(list(itertools.islice(copies(order), size)), idle)


def main() -> None:
    """Print the rates and their ratios, a pool at a time."""
    asyncio.run(compare())


if __name__ == "__main__":
    main()
