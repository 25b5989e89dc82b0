"""The curator actor under kills: what was given is not given again, and members are known that came before it."""

from __future__ import annotations

from actors.peers import Peers
from actors.roster import Post
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
