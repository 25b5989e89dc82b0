"""The buffer actor: what is out with the learner outlives the buffer."""

from __future__ import annotations

from typing import Any

from actors.peers import Peers
from actors.roster import Post
from cluster.config import Config
from cluster.wanted import first
from tests.actors.conftest import Raise, kill
from training.trajectory import Group, Sample, Trajectory

POOL = Post("pool", "actors.pool:PoolActor")
BUFFER = Post("buffer", "actors.buffer:BufferActor")


def group(name: str, version: int = 0) -> dict[str, Any]:
    """A group with variance."""
    samples = [Sample("x", [1, 2], [3], [-0.5], version, version, True) for _ in range(2)]
    trajectories = tuple(Trajectory(s, float(k), bool(k), True) for k, s in enumerate(samples))
    return Group(name, "solver", "main", {}, trajectories).to_dict()


async def begun(make: Raise, peers: Peers) -> None:
    make(POOL)
    make(BUFFER)
    await peers.pool.put_state("phase", "training")


async def killed(peers: Peers) -> None:
    kill((await peers.buffer.health())["pid"])


async def taken(peers: Peers, version: int = 0) -> list[str] | None:
    groups = await peers.buffer.take(version)
    return None if groups is None else [item["id"] for item in groups]


async def filled(peers: Peers, *names: str) -> None:
    permits = await peers.buffer.reserve("solver-0", len(names))
    for permit, name in zip(permits, names, strict=True):
        assert await peers.buffer.put(permit, group(name)) == "ready"


async def test_a_trained_batch_is_not_handed_out_again_after_the_buffer_was_killed(
    make: Raise, peers: Peers
) -> None:
    await begun(make, peers)
    await filled(peers, "a", "b")
    assert await taken(peers) == ["a", "b"]
    await killed(peers)
    await peers.buffer.trained(["a", "b"], 1)
    await killed(peers)
    assert await taken(peers, 1) is None


async def test_a_batch_whose_update_was_lost_is_handed_out_again_after_the_buffer_was_killed(
    make: Raise, peers: Peers
) -> None:
    await begun(make, peers)
    await filled(peers, "a", "b")
    assert await taken(peers) == ["a", "b"]
    await killed(peers)
    assert await taken(peers) == ["a", "b"]


async def test_groups_that_wait_are_not_lost_when_the_buffer_is_killed(make: Raise, peers: Peers) -> None:
    await begun(make, peers)
    await filled(peers, "a", "b")
    await killed(peers)
    assert await taken(peers) == ["a", "b"]
    await peers.buffer.trained(["a", "b"], 1)
    await peers.buffer.checkpointed(1)
    assert await peers.pool.groups("buffer/") == []


async def test_the_saved_state_holds_no_answers(make: Raise, peers: Peers) -> None:
    await begun(make, peers)
    await filled(peers, "a", "b")
    await taken(peers)
    state = await peers.pool.state("buffer")
    assert [set(entry) for entry in state["entries"].values()] == [{"state", "version", "stamp", "id"}] * 2


async def test_no_permit_is_given_while_the_run_is_paused(make: Raise, peers: Peers, config: Config) -> None:
    await begun(make, peers)
    await peers.pool.put_state("wanted", {**first(config).model_dump(mode="json"), "paused": True})
    assert await peers.buffer.reserve("solver-0", 2) == []


async def test_groups_trained_after_the_checkpoint_wait_again_when_all_was_killed(
    make: Raise, peers: Peers
) -> None:
    await begun(make, peers)
    await filled(peers, "a", "b")
    await taken(peers)
    await peers.buffer.trained(["a", "b"], 1)
    await peers.buffer.checkpointed(1)
    await filled(peers, "c", "d")
    await taken(peers, 1)
    await peers.buffer.trained(["c", "d"], 2)
    kill((await peers.pool.health())["pid"])
    await killed(peers)
    assert await peers.buffer.reopen(1, 3) == 2
    assert await taken(peers, 3) == ["c", "d"]


async def test_a_permit_of_an_earlier_life_does_not_pass_for_a_new_one(make: Raise, peers: Peers) -> None:
    await begun(make, peers)
    old = (await peers.buffer.reserve("solver-0", 1))[0]
    await killed(peers)
    new = (await peers.buffer.reserve("solver-0", 1))[0]
    assert new != old
    assert await peers.buffer.put(old, group("late")) == "dropped"
    assert await peers.buffer.put(new, group("right")) == "ready"


async def test_no_permit_is_given_while_the_run_drains(make: Raise, peers: Peers) -> None:
    await begun(make, peers)
    await peers.pool.put_state("draining", True)
    assert await peers.buffer.reserve("solver-0", 2) == []
    await peers.pool.put_state("draining", False)
    assert len(await peers.buffer.reserve("solver-0", 2)) == 2
