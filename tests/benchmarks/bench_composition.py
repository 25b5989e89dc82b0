"""Composition: chains that frontier search finds a second, against running the same chains with fresh children.

The other side is given the chains and only executes them, a new child a step, as a check before admission would; the
search has to find them first, and everything it tries and drops is counted against it. Both use the same sandbox in
turns over the same chains.
"""

import asyncio
import random
import time

from envpool.composition.chains import Chain, SearchSettings
from envpool.composition.composer import Composer
from envpool.composition.quotas import Quotas
from envpool.composition.search import FrontierSearch
from envpool.contract import Recipe
from envpool.members import Member
from envpool.sandbox import Call, LocalExecutor, Mode
from tests.envpool.composition.bricks import shipped_bricks

WAVES = 3
STARTS = 16
SAMPLE = 40
PROPOSALS = 24


async def searched(executor: LocalExecutor, bricks: list[Member], seed: int) -> list[Chain]:
    """The chains of two steps and more that one search finds."""
    search = FrontierSearch(executor, bricks, SearchSettings())
    rng = random.Random(seed)
    starts = [Recipe(brick.id, seed, 0) for brick in rng.sample(bricks, STARTS)]
    found = [chain async for chain in search.chains(rng, starts, Quotas(len(bricks)))]
    return [chain for chain in found if chain.size > 1]


async def executed_fresh(executor: LocalExecutor, chains: list[Chain], sources: dict[str, str]) -> None:
    """Each chain run on its concrete input, a fresh child for every step."""
    for chain in chains:
        for member, x in zip(chain.members, chain.values, strict=False):
            await executor.run(sources[member], [Call("accepts", (x,)), Call("solve", (x,))], mode=Mode.SAMPLE)


async def compare() -> None:
    executor = LocalExecutor()
    bricks = await shipped_bricks(executor)
    sources = {brick.id: brick.material.source for brick in bricks}
    ours = theirs = found = ran = 0.0
    for seed in range(WAVES):
        started = time.perf_counter()
        chains = await searched(executor, bricks, seed)
        ours, found = ours + time.perf_counter() - started, found + len(chains)
        sample = random.Random(seed).sample(chains, min(SAMPLE, len(chains)))
        started = time.perf_counter()
        await executed_fresh(executor, sample, sources)
        theirs, ran = theirs + time.perf_counter() - started, ran + len(sample)
    started = time.perf_counter()
    made = await Composer(executor, bricks).propose(PROPOSALS)
    composer = time.perf_counter() - started
    executor.close()
    print(f"chains found a second: {found / ours:.1f} ({found:.0f} over {len(bricks)} bricks)")
    print(f"chains run a second with fresh children: {ran / theirs:.1f}")
    print(f"search against fresh children: {found / ours * theirs / ran:.2f}x")
    print(f"composites proposed a second, {len(made)} asked for: {len(made) / composer:.1f}")


def main() -> None:
    """Print the rates and their ratio."""
    asyncio.run(compare())


if __name__ == "__main__":
    main()
