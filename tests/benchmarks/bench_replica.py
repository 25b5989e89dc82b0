"""Replicas of the pool on three nodes of a Ray cluster, against copying the pool's file ten times a second.

One pool actor, four producers that cause so many journal entries a second among them, and a follower a node. The lag
of an entry is from the moment it can be read in the pool to the moment it can be read in a replica, each seen by one
process that looks at all files about every millisecond. The alternative is what LMDB offers without a change stream:
three processes that copy the whole pool (`mdb_env_copy`) every 100 ms and put the copy in the place of the last one;
its lag ends when the copy is there, and leaves out that the file would have to travel.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

from actors import roster
from actors.peers import Peers
from actors.roster import Post
from cluster.config import Config
from envpool.members import Origin
from envpool.store import PoolReader, PoolWriter

NODES = 3
PRODUCERS = 4
ENTRIES_A_SECOND = 1000
SECONDS = 20
TURN = 0.02
AT_ONCE = 32
"""Calls of a producer that wait for their commit: as a stage of a run, it waits when the pool is slow."""
COPY_SECONDS = 0.1
FILLED = 5000
SOURCE = "x" * 1500
ROOT = Path(__file__).parents[2]
Seen = list[tuple[float, int]]
"""When a file was first seen to reach a journal entry: seconds, sequence."""


@ray.remote(num_cpus=0)
class Producer:
    """Has candidates rejected at a steady rate; each is one journal entry."""

    async def produce(self, name: str, namespace: str) -> float:
        """How many entries a second were answered."""
        pool, room, start = Peers(namespace).pool, asyncio.Semaphore(AT_ONCE), time.monotonic()
        calls: list[asyncio.Task[None]] = []

        async def one(id: str) -> None:
            try:
                await pool.reject(id, "grammar", "L1", "fell", {}, SOURCE, 0)
            finally:
                room.release()

        while time.monotonic() - start < SECONDS:
            await room.acquire()
            calls.append(asyncio.create_task(one(f"p{name}-{len(calls)}")))
            due = start + len(calls) * PRODUCERS / ENTRIES_A_SECOND
            if due > time.monotonic() + TURN:
                await asyncio.sleep(TURN)
        await asyncio.gather(*calls)
        return len(calls) / (time.monotonic() - start)


@ray.remote(num_cpus=0)
class Copier:
    """Copies the whole pool again and again."""

    def copy(self, path: str, target: str) -> Seen:
        """When each copy was there, and its last entry."""
        seen: Seen = []
        partial, start = Path(f"{target}.partial"), time.monotonic()
        with PoolReader.open(path) as pool:
            while (turn := time.monotonic()) - start < SECONDS:
                shutil.rmtree(partial, ignore_errors=True)
                partial.mkdir(parents=True)
                with pool.snapshot():
                    sequence = pool.last_sequence()
                    pool.copy_into(partial)
                os.replace(partial / "data.mdb", target)
                seen.append((time.time(), sequence))
                time.sleep(max(0.0, turn + COPY_SECONDS - time.monotonic()))
        return seen


def watch(readers: Sequence[PoolReader], running: list[Any]) -> list[Seen]:
    """Looks at all files until the running work is done and all have the same entries."""
    seen: list[Seen] = [[(time.time(), reader.last_sequence())] for reader in readers]
    while running or len({each[-1][1] for each in seen}) > 1:
        for reader, each in zip(readers, seen, strict=True):
            if (sequence := reader.last_sequence()) > each[-1][1]:
                each.append((time.time(), sequence))
        time.sleep(0.001)
        if running:
            _, running = ray.wait(running, num_returns=len(running), timeout=0)
    return seen


def lags(pool: Seen, replica: Seen) -> list[float]:
    """Milliseconds from pool to replica, one for each journal entry that the replica came to have."""
    found: list[float] = []
    reached = iter(pool[1:])
    at, up_to = next(reached)
    steps = iter(replica)
    _, done = next(steps)
    for there, sequence in steps:
        for entry in range(done + 1, sequence + 1):
            while up_to < entry:
                at, up_to = next(reached)
            found.append(1000 * max(0.0, there - at))
        done = max(done, sequence)
    return found


def quantiles(values: list[float]) -> tuple[float, float, float]:
    """Median, 99 of 100, most."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2], ordered[int(0.99 * len(ordered))], ordered[-1]


@contextmanager
def cluster(folder: Path) -> Iterator[None]:
    """A head and three more nodes on this machine, in a folder of their own so that no other cluster is disturbed."""
    head = {"num_cpus": 1, "include_dashboard": False, "temp_dir": str(folder)}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(NODES):
            nodes.add_node(num_cpus=1)
        environment = {"env_vars": {"PYTHONPATH": str(ROOT)}}
        ray.init(address=nodes.address, log_to_driver=False, runtime_env=environment)
        yield
    finally:
        ray.shutdown()
        nodes.shutdown()


def load(config: Config) -> list[Any]:
    """Producers at work."""
    return [
        Producer.remote().produce.remote(f"{time.time()}-{name}", config.namespace)
        for name in range(PRODUCERS)
    ]


def followed(config: Config, readers: list[PoolReader]) -> tuple[list[float], float]:
    """Lags of all followers, and the entries a second that were made meanwhile."""
    running = load(config)
    pool, *replicas = watch(readers, running)
    rates = ray.get(running)
    return [lag for replica in replicas for lag in lags(pool, replica)], sum(rates)


def copied(config: Config, reader: PoolReader, folder: Path) -> tuple[list[float], float]:
    """The same for copies."""
    running = load(config)
    copies = [
        Copier.remote().copy.remote(str(config.pool_folder), str(folder / f"copy-{number}"))
        for number in range(NODES)
    ]
    (pool,) = watch([reader], [*running, *copies])
    rates = ray.get(running)
    return [lag for copy in ray.get(copies) for lag in lags(pool, copy)], sum(rates)


def fill(config: Config) -> None:
    """A pool as large as one of a day's run."""
    with PoolWriter.open(config.pool_folder) as pool, pool.batch():
        for number in range(FILLED):
            pool.reject(f"pfilled-{number}", Origin.GRAMMAR, "L1", "fell", {}, SOURCE)


def main() -> None:
    """Prints the lag of both sides and the ratio."""
    folder = Path(tempfile.mkdtemp(prefix="bench-replica-"))
    places = {"folder": str(folder / "pools"), "replica_folder": str(folder / "replicas")}
    run = {"name": "bench-replica", "folder": str(folder / "runs")}
    config = Config.model_validate({"run": run, "pool": places})
    try:
        fill(config)
        with cluster(folder):
            measure(config, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measure(config: Config, folder: Path) -> None:
    """Both sides, one after the other, on the same cluster and pool."""
    actors = [roster.make(Post("pool", "actors.pool:PoolActor", roster.Place.HEAD), config)]
    ray.get(actors[0].ready.remote())
    head = ray.get(actors[0].place.remote())["node"]
    others = [node["NodeID"] for node in ray.nodes() if node["Alive"] and node["NodeID"] != head]
    actors += [roster.make(roster.follower(node), config) for node in others]
    paths = [config.pool_folder, *(Path(path) for path in ray.get([a.path.remote() for a in actors[1:]]))]
    readers = [PoolReader.open(path) for path in paths]
    ours, our_rate = followed(config, readers)
    health = ray.get([actor.health.remote() for actor in actors[1:]])
    for actor in actors[1:]:
        ray.kill(actor, no_restart=True)
    theirs, their_rate = copied(config, readers[0], folder)
    for reader in readers:
        reader.close()
    ray.kill(actors[0], no_restart=True)
    print(f"replica lag, {len(others)} replicas, {PRODUCERS} producers, {SECONDS} s (milliseconds)")
    print("                                     entries/s      p50      p99      max")
    for name, values, rate in (
        ("change stream (envolve)", ours, our_rate),
        ("mdb_env_copy every 100 ms", theirs, their_rate),
    ):
        p50, p99, most = quantiles(values)
        print(f"  {name:<33}{rate:>11,.0f}  {p50:>7.1f}  {p99:>7.1f}  {most:>7.1f}")
    print(f"  ratio of p99: {quantiles(theirs)[1] / quantiles(ours)[1]:.2f}x")
    received = sum(each["gauges"]["bytes"] for each in health) / len(health)
    print(f"  received by each follower: {received / 2**20:,.0f} MiB")


if __name__ == "__main__":
    main()
