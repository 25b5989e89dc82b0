"""The follower under kills and restarts: its node's replica is the pool again, whatever happened to either process."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import ray

from actors import roster
from actors.base import Actor, node_id
from actors.peers import Peers
from actors.roster import Post
from cluster.config import Config
from envpool.store import Changes, Position
from envpool.store.environment import REPLICATED
from envpool.store.reading import PoolReader
from tests.actors.conftest import Raise, kill
from tests.actors.test_pool_actor import POOL, member


def follower() -> Post:
    return roster.follower(ray.get_runtime_context().get_node_id())


async def reached(replica: Path, position: Position) -> None:
    """Waits until the replica stands where the pool stood."""
    with PoolReader.open(replica) as reader:
        await reached_by(reader, position)


async def reached_by(reader: PoolReader, position: Position) -> None:
    while reader.position() != position:
        await asyncio.sleep(0.01)


def pool_position(config: Config) -> Position:
    with PoolReader.open(config.pool_folder) as reader:
        return reader.position()


def same(config: Config, replica: Path) -> bool:
    """Whether every replicated row is the pool's, byte for byte."""
    with PoolReader.open(config.pool_folder) as pool, PoolReader.open(replica) as copy:
        return list(pool.rows(REPLICATED)) == list(copy.rows(REPLICATED))


async def test_a_replica_follows_the_pool_and_leaves_its_groups_out(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    await peers.pool.put_group("main\0g1", b"heavy" * 1000)
    await asyncio.gather(*(peers.pool.admit(member(k), "", 0) for k in range(100)))
    make(follower())
    replica = Path(await peers[follower().name].path())
    assert replica == config.replica_folder(ray.get_runtime_context().get_node_id())
    await asyncio.gather(*(peers.pool.admit(member(k), "", 0) for k in range(100, 200)))
    await reached(replica, pool_position(config))
    assert same(config, replica)
    with PoolReader.open(replica) as reader:
        assert reader.group_keys() == []
    assert await peers.pool.groups("main\0") == ["main\0g1"]
    assert await peers.pool.group("main\0g1") == b"heavy" * 1000
    await peers.pool.drop_groups(["main\0g1", "main\0unknown"])
    assert await peers.pool.groups("main\0") == []
    gauges = (await peers[follower().name].health())["gauges"]
    assert gauges["snapshots"] == 1
    assert gauges["behind"] == 0
    assert gauges["lag_ms_max"] > 0


async def test_a_reader_keeps_its_handle_while_pool_and_follower_are_killed_in_turn(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    make(follower())
    name = follower().name
    replica = Path(await peers[name].path())
    with PoolReader.open(replica) as reader:
        for turn in range(2):
            calls = [
                asyncio.create_task(peers.pool.admit(member(k), "", 0))
                for k in range(200 * turn, 200 * turn + 200)
            ]
            while len(reader.ids()) < 200 * turn + 20:
                await asyncio.sleep(0.005)
            kill((await peers[name].health())["pid"])
            make(follower())
            kill((await peers.pool.health())["pid"])
            make(POOL)
            await asyncio.gather(*calls)
            await peers[name].ready()
            await reached_by(reader, pool_position(config))
            assert len(reader.ids()) == 200 * turn + 200
            assert not reader.replaced()
    assert same(config, replica)


async def test_what_waits_for_a_change_is_answered_with_it_or_with_nothing(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    await peers.pool.ready()
    position = pool_position(config)
    waiting = asyncio.create_task(peers.pool.changes(*position))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    await peers.pool.admit(member(1), "", 7)
    changes = Changes.unpack(await waiting)
    assert [each.number for each in changes.transactions] == [position.change + 1]
    assert changes.sequence == 1
    assert Changes.unpack(await peers.pool.changes(*pool_position(config))).transactions == ()
    assert await peers.pool.changes(position.change, b"another!") is None
    assert await peers.pool.changes(position.change + 9, position.mark) is None


async def test_a_stopped_follower_takes_its_replica_with_it(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    make(follower())
    replica = Path(await peers[follower().name].path())
    assert replica.is_dir()
    await peers[follower().name].stop()
    assert not replica.exists()


async def test_snapshots_are_shared_until_the_changes_do_not_reach_them(
    make: Raise, peers: Peers, config: Config
) -> None:
    make(POOL)
    await peers.pool.admit(member(1), "", 0)
    first, second = await asyncio.gather(peers.pool.snapshot_begin(), peers.pool.snapshot_begin())
    assert first == second
    assert await peers.pool.snapshot_chunk(first["id"], 0)
    assert await peers.pool.snapshot_chunk("unknown", 0) is None


class Away(Actor):
    """One that reads the node's replica, as on a node without the writer, and says what it found at its start."""

    async def start(self) -> None:
        self.found = len(self.pool_reader.ids())

    async def seen(self) -> int:
        await self.ready()
        return self.found

    async def _nearest_pool(self) -> Path:
        return self.config.replica_folder(node_id())


async def test_an_actor_starts_only_when_its_replica_has_what_the_pool_has(make: Raise, peers: Peers) -> None:
    make(POOL)
    make(follower())
    await peers[follower().name].path()
    pid = (await peers[follower().name].health())["pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        await peers.pool.admit(member(1), "", 0)
        make(Post("novelty", "tests.actors.test_follower:Away"))
        await peers.novelty.heartbeat()  # it is there, and would have started by and by
        await asyncio.sleep(0.5)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert await peers.novelty.seen() == 1
