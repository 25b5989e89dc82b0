"""The search with all bricks in one child of the real sandbox: what it finds, and what a hostile brick gets by it."""

import random
from collections.abc import AsyncIterator

import pytest

from envpool.composition.chains import Chain, SearchSettings
from envpool.composition.quotas import Quotas
from envpool.composition.search import FrontierSearch
from envpool.contract import Recipe
from envpool.members import Member
from envpool.sandbox import Call, LocalExecutor, Mode, SandboxLimits
from tests.envpool.composition.bricks import inspected, shipped_bricks
from tests.envpool.composition.searching import PlainSearch

HONEST = [
    *(
        f"numbers/{name}"
        for name in ("add_one", "append_zero", "digits", "double", "reverse_digits", "square")
    ),
    *(f"lists/{name}" for name in ("add_one_each", "double_each", "largest", "sort_up", "total")),
]
QUICK = SandboxLimits(cpu_seconds=0.2, wall_seconds=10.0)
SETTINGS = SearchSettings(depth=4, expansions=3, frontier=5)

FRAME = """
import random

from envpool import Environment

TOP

class NAME(Environment):
    rule = "Add three to the input number, or so."

    def sample(self, rng: random.Random, level: int) -> int:
        return rng.randint(1, 99)

    def solve(self, x: int) -> int:
        BODY
        return x + 3
"""


def brick(name: str, body: str, top: str = "") -> str:
    indented = body.strip("\n").replace("\n", "\n        ")
    return FRAME.replace("NAME", name).replace("BODY", indented).replace("TOP", top)


ENDS_ITS_PROCESS = brick("Ends", "if x > 9:\n    random._os._exit(3)")
SPINS_IN_C = brick("Spins", "if x > 9:\n    sum(range(10**13))")
LOOPS = brick("Loops", "while True:\n    x += 1")
LOOPS_AND_CATCHES = brick(
    "Catches", "try:\n    while True:\n        x += 1\nexcept BaseException:\n    return 5"
)
WRITES = brick("Writes", 'random._os.write(4, b"\\x00\\x00\\x00\\x02[]")')

BEND = """
def bent(true):
    def solve(self, x):
        y = true(self, x)
        return y + 1 if type(y) is int else y
    return solve
"""
BENDS_NEIGHBOURS = brick(
    "Bends",
    "for other in Environment.__subclasses__():\n"
    '    if other is not type(self) and "bent" not in other.__dict__:\n'
    "        other.solve, other.bent = bent(other.solve), True",
    BEND,
)
BENDS_BUILTINS = brick(
    "BendsBuiltins",
    'builtins = random._os.sys.modules["builtins"]\n'
    'if not hasattr(builtins, "bent"):\n'
    "    builtins.bent = builtins.sorted\n"
    "    builtins.sorted = lambda *a, **k: builtins.bent(*a, **k)[::-1]",
)
KILLS_THROUGH_NEIGHBOURS = brick(
    "Kills",
    "for other in Environment.__subclasses__():\n"
    "    if other is not type(self):\n"
    "        other.solve = lambda self, x: random._os._exit(3)",
)
SILENCES = brick(
    "Silences",
    "for other in Environment.__subclasses__():\n"
    "    if other is not type(self):\n"
    "        other.accepts = lambda self, x: False",
)
FORGES = brick(
    "Forges",
    "frame = random._os.sys._getframe()\n"
    'while frame and "identity" not in frame.f_locals:\n'
    "    frame = frame.f_back\n"
    'body = b\'[%d,"part",[4711]]\' % frame.f_locals["identity"]\n'
    'random._os.write(4, len(body).to_bytes(4, "big") + body)',
)


SLOW = brick(
    "Slow",
    "used = lambda: sum(random._os.times()[:2])\nend = used() + 0.1\nwhile used() < end:\n    sum(range(10**5))",
)
"""A step of it takes more CPU time than one is let under `QUICK`, each call less."""


@pytest.fixture
async def executor() -> AsyncIterator[LocalExecutor]:
    executor = LocalExecutor(QUICK)
    yield executor
    executor.close()


async def pool(executor: LocalExecutor, *added: str) -> list[Member]:
    """Honest bricks, and others."""
    honest = await shipped_bricks(executor, HONEST)
    return [*honest, *[await inspected(executor, source) for source in added]]


async def found(search: FrontierSearch, seed: int = 0, starts: int = 4) -> list[Chain]:
    rng = random.Random(seed)
    drawn = [Recipe(id, seed, 1) for id in rng.sample(search.bricks, starts)]
    return [chain async for chain in search.chains(rng, drawn, Quotas(9))]


async def is_true(executor: LocalExecutor, bricks: list[Member], chain: Chain) -> bool:
    """Whether each step of a chain gives its output, in a fork of its own."""
    sources = {each.id: each.material.source for each in bricks}
    for id, x, y in zip(chain.members, chain.values, chain.values[1:], strict=False):
        (result,) = await executor.run(sources[id], [Call("solve", (x,))], mode=Mode.VALIDATE)
        if result.value != y:
            return False
    return True


async def test_bricks_together_find_what_they_find_one_by_one(executor: LocalExecutor) -> None:
    bricks = await pool(executor)
    together, alone = (kind(executor, bricks, SETTINGS) for kind in (FrontierSearch, PlainSearch))
    for seed in range(2):
        chains = await found(together, seed)
        assert {chain.size for chain in chains} == {1, 2, 3, 4}
        assert chains == await found(alone, seed)
    assert not together.is_apart and not together.killed_edges


async def test_the_same_seed_finds_the_same_in_every_sandbox_whatever_the_hash_seed(
    executor: LocalExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    bricks = await pool(executor)
    there = LocalExecutor(QUICK)
    chains = []
    for replica in (0, 1, 2):
        monkeypatch.setattr("envpool.composition.together.REPLICA", replica)
        for each in (executor, there):
            chains.append(await found(FrontierSearch(each, bricks, SETTINGS), seed=5))
    there.close()
    assert chains[0] and all(each == chains[0] for each in chains)


async def test_what_was_found_is_confirmed_by_bricks_that_run_one_by_one(executor: LocalExecutor) -> None:
    bricks = await pool(executor)
    search = FrontierSearch(executor, bricks, SETTINGS)
    chains = (await found(search))[::9]
    assert await search.confirmed(chains) == chains
    assert all([await is_true(executor, bricks, chain) for chain in chains])


@pytest.mark.parametrize("source", [ENDS_ITS_PROCESS, SPINS_IN_C, WRITES])
async def test_a_step_that_is_killed_is_passed_over_and_the_search_goes_on_from_its_seed(
    executor: LocalExecutor, source: str
) -> None:
    bricks = await pool(executor, source)
    killer = bricks[-1].id
    search = FrontierSearch(executor, bricks, SETTINGS)
    search.use(bricks, lambda id: 20.0 if id == killer else 1.0)
    chains = await found(search)
    assert {chain.size for chain in chains} == {1, 2, 3, 4}
    killed = search.killed_edges
    assert killed and all(after == killer for _, after in killed)
    assert not search.is_apart
    assert await found(search) == chains, "edges known from before give what those found on the way give"
    assert search.killed_edges == killed
    assert None not in await search.confirmed(chains[::9])


@pytest.mark.parametrize("source", [LOOPS, LOOPS_AND_CATCHES])
async def test_a_step_of_too_many_lines_is_dropped_without_a_kill(
    executor: LocalExecutor, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envpool.composition.together.LINES", 2_000)
    bricks = await pool(executor, source)
    looping = bricks[-1].id
    search = FrontierSearch(executor, bricks, SETTINGS)
    search.use(bricks, lambda id: 20.0 if id == looping else 1.0)
    chains = await found(search)
    assert chains and not any(looping in chain.members for chain in chains)
    assert executor.metrics().get("verdict_cpu_limit", 0) == 0
    assert not search.killed_edges and not search.is_apart


@pytest.mark.parametrize("source", [BENDS_NEIGHBOURS, BENDS_BUILTINS, FORGES])
async def test_a_brick_that_falsifies_its_neighbours_gets_nothing_confirmed_but_the_truth(
    executor: LocalExecutor, source: str
) -> None:
    bricks = await pool(executor, source)
    hostile = bricks[-1].id
    search = FrontierSearch(executor, bricks, SETTINGS)
    search.use(bricks, lambda id: 20.0 if id == hostile else 1.0)
    chains = await found(search)
    if not search.is_apart:  # else it was seen before anything was found
        confirmed = await search.confirmed(chains)
        lies = [not await is_true(executor, bricks, chain) for chain in chains]
        assert any(lies), "the attack works on those who believe what was found"
        assert [chain is None for chain in confirmed] == lies
    assert search.is_apart
    assert all(after == hostile for _, after in search.killed_edges)
    later = await found(search, 1)
    assert {chain.size for chain in later} == {1, 2, 3, 4}
    assert all([await is_true(executor, bricks, chain) for chain in later[::5]])


async def test_a_brick_that_silences_its_neighbours_is_noticed_after_some_searches(
    executor: LocalExecutor,
) -> None:
    bricks = await pool(executor, SILENCES)
    search = FrontierSearch(executor, bricks, SETTINGS)
    for seed in range(40):
        await found(search, seed)
        if search.is_apart:
            break
    assert search.is_apart and "run alone" in search.distrust
    assert {chain.size for chain in await found(search)} == {1, 2, 3, 4}


async def test_a_brick_that_lets_its_neighbours_die_has_no_edge_of_theirs_noted(
    executor: LocalExecutor,
) -> None:
    bricks = await pool(executor, KILLS_THROUGH_NEIGHBOURS)
    search = FrontierSearch(executor, bricks, SETTINGS)
    search.use(bricks, lambda id: 20.0 if id == bricks[-1].id else 1.0)
    chains = await found(search)
    assert search.is_apart and not search.killed_edges
    assert {chain.size for chain in chains} == {1, 2, 3, 4}
    assert all([await is_true(executor, bricks, chain) for chain in chains[::9]])
    search.use(bricks[:-1])
    assert not search.is_apart


async def test_a_brick_that_is_slow_is_passed_over_for_this_search_and_nobody_is_blamed(
    executor: LocalExecutor,
) -> None:
    bricks = await pool(executor, SLOW)
    slow = bricks[-1].id
    search = FrontierSearch(executor, bricks, SETTINGS)
    search.use(bricks, lambda id: 20.0 if id == slow else 1.0)
    chains = await found(search)
    assert {chain.size for chain in chains} == {1, 2, 3, 4}
    assert not any(slow in chain.members for chain in chains)
    assert not search.is_apart and not search.killed_edges
