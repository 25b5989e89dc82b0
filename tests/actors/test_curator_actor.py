"""The curator actor under kills: what was given is not given again, and members are known that came before it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from actors.curator import CuratorActor
from actors.peers import Peers
from actors.roster import Post
from envpool.curation import Curator
from envpool.members import Composite, Member, Origin, Program, Status
from envpool.store import PoolWriter
from tests.actors.conftest import Raise, kill
from tests.actors.test_pool_actor import POOL, member

CURATOR = Post("curator", "actors.curator:CuratorActor")


async def given(peers: Peers, count: int) -> list[int]:
    return [recipe["seed"] for recipe in await peers.curator.choose(count)]


async def test_no_seed_is_given_again_by_curators_that_live_shortly(make: Raise, peers: Peers) -> None:
    make(POOL)
    await peers.pool.admit(member(0), "", 0)
    make(CURATOR)
    seeds = await given(peers, 5)
    for _ in range(2):  # sooner than it saves in the background
        kill((await peers.curator.health())["pid"])
        seeds += await given(peers, 5)
    assert len(set(seeds)) == 15


async def test_members_are_taken_as_they_stand_when_it_starts_and_followed_from_then_on(
    make: Raise, peers: Peers
) -> None:
    make(POOL)
    for number in range(4):
        await peers.pool.admit(member(number), "", 0)
    make(CURATOR)
    ids = {recipe["member"] for recipe in await peers.curator.choose(40)}
    assert len(ids) == 4
    gone = ids.pop()
    await peers.pool.transition(gone, "quarantined", "broken", 0)
    await peers.pool.admit(member(4), "", 0)
    now = {recipe["member"] for recipe in await peers.curator.choose(40)}
    assert len(now) == 4
    assert gone not in now


class Local(CuratorActor):
    """A curator without a run around it: what it sends to the pool is written at once."""

    def __init__(self, pool: PoolWriter, attached: bool) -> None:
        self.__dict__["pool_reader"] = pool  # as it is cached
        self._policy, self._own_run, self._seen = "guest" if attached else "main", not attached, 0
        self._curator = Curator(policy=self._policy)
        self.peers: Any = SimpleNamespace(pool=self)
        self._follow()

    async def ready(self) -> str:
        return "curator"

    async def transition(self, id: str, to: str, reason: str, step: int) -> None:
        self.pool_reader.transition(id, Status(to), reason, step)

    async def set_level(self, id: str, policy: str, level: int, reason: str) -> None:
        self.pool_reader.set_level(id, policy, level, reason)


DOUBLE = Member(Program("a", "Double", "Double it.", "int", "int"), Origin.BRICK)
FUSED = Member(Composite("SEQUENTIAL", ((DOUBLE.id,),), "int", "int"), Origin.COMPOSER, evidence={"level": 1})


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PoolWriter]:
    with PoolWriter.open(tmp_path, 16 << 20) as pool:
        for each in (DOUBLE, FUSED):
            pool.admit(each)
            pool.set_level(each.id, "main", 1, "for a test")
        yield pool


async def test_a_composite_whose_prompt_is_too_long_is_asked_no_more_and_a_program_below(
    pool: PoolWriter,
) -> None:
    curator = Local(pool, attached=False)
    for each in (DOUBLE, FUSED):
        await curator.refused(each.id, 1, "2000 tokens")
    assert (pool.level(DOUBLE.id, "main"), pool.status(DOUBLE.id)) == (0, Status.ACTIVE)
    assert pool.status(FUSED.id) is Status.QUARANTINED
    assert pool.level(FUSED.id, "main") == 1, "it was never measured below"


async def test_a_composite_that_a_guest_cannot_be_asked_stays_for_the_others(pool: PoolWriter) -> None:
    guest = Local(pool, attached=True)
    assert {recipe["level"] for recipe in await guest.choose(20) if recipe["member"] == FUSED.id} == {1}
    await guest.refused(FUSED.id, 1, "2000 tokens")
    assert {recipe["member"] for recipe in await guest.choose(20)} == {DOUBLE.id}
    assert pool.status(FUSED.id) is Status.ACTIVE
