"""The follower of a node: keeps the node's replica of the pool, so that its actors read a local file.

Invariant: `ready` and `path` answer once the replica has caught up with the pool for the first time; from then on
it only moves forward, except for a snapshot of another history. What happens when the pool restarts, or when the
replica is too far behind, is decided by positions alone: either changes follow, or a snapshot is taken. Nothing
is written to the pool. The lag that is shown compares two machines' clocks.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from actors.base import Actor, node_id
from actors.pool import GIB
from envpool.store import Changes, PoolReplica, Position, ReplicaDiverged
from envpool.store.replica import remove_abandoned

GATHER_SECONDS = 0.02
"""After each batch, so that a busy pool is followed in batches and not commit by commit."""
KEPT_LAGS = 1000
AT_ONCE_BYTES = 256 << 10


class FollowerActor(Actor):
    """Repeats the pool's changes on its node."""

    async def start(self) -> None:
        self._folder = self.config.replica_folder(node_id())
        await asyncio.to_thread(remove_abandoned, self._folder.parent)
        # Twice the pool's: while a snapshot is written the former content is still there.
        map_size = 2 * int(self.config.pool.map_size_gib * GIB)
        self._replica = await asyncio.to_thread(PoolReplica.open, self._folder, map_size)
        self._lags: deque[float] = deque(maxlen=KEPT_LAGS)
        self._behind = self._sequence = self._snapshots = self._bytes = 0
        self.waiting_for = "pool"
        try:
            while not await self._follow():
                pass
        except BaseException:
            self._replica.close()  # the next start opens it again
            raise
        self._lags.clear()  # of what was there before this follower
        self.background("follow", self._keep_following)

    async def path(self) -> str:
        """The folder of the node's replica, once it has caught up."""
        await self.ready()
        return str(self._folder)

    def gauges(self) -> dict[str, float]:
        if not hasattr(self, "_replica"):
            return {}
        lags = sorted(self._lags)
        return {
            "lag_ms": round(_quantile(lags, 0.5), 3),
            "lag_ms_p99": round(_quantile(lags, 0.99), 3),
            "lag_ms_max": round(_quantile(lags, 1.0), 3),
            "position": self._sequence,
            "behind": self._behind,
            "snapshots": self._snapshots,
            "bytes": self._bytes,
            "map_fill": self._replica.map_fill(),
        }

    async def drain(self) -> None:
        """A replica is followed until it is stopped: the node's other actors read it while they drain."""

    async def stop(self) -> None:
        await super().stop()
        if hasattr(self, "_replica"):
            await asyncio.to_thread(self._replica.close)
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _keep_following(self) -> None:
        await self._follow()
        self.waiting_for = ""
        await asyncio.sleep(GATHER_SECONDS)

    async def _follow(self) -> bool:
        """Take what the pool has next, waiting a moment where it has nothing; whether nothing is left."""
        after = self._replica.position()
        raw = await self.peers.pool.changes(after.change, after.mark)
        if raw is None:
            await self._take_snapshot()
            return False
        changes = Changes.unpack(raw)
        if changes.transactions:
            try:
                position = await self._apply(changes, len(raw))
            except ReplicaDiverged:
                await self._take_snapshot()
                return False
            now = time.time()
            self._lags.extend(1000 * max(0.0, now - each.at) for each in changes.transactions)
            self._bytes += len(raw)
            after = position
        reached = changes.transactions[-1].sequence if changes.transactions else changes.sequence
        self._sequence, self._behind = reached, changes.sequence - reached
        return after.change == changes.newest

    async def _apply(self, changes: Changes, size: int) -> Position:
        """A small batch takes less than the way to another thread and back."""
        if size <= AT_ONCE_BYTES:
            return self._replica.apply(changes.transactions)
        return await asyncio.to_thread(self._replica.apply, changes.transactions)

    async def _take_snapshot(self) -> None:
        """Fetch a snapshot whole, then make it the replica's content; undone where the pool has a newer one by then."""
        aside = self._folder / "snapshot"
        snapshot = await self.peers.pool.snapshot_begin()
        try:
            sizes = await self._fetch(snapshot, aside)
            if len(sizes) < snapshot["chunks"]:
                return
            await asyncio.to_thread(self._replica.restore, _chunks(aside, sizes))
        finally:
            aside.unlink(missing_ok=True)
        self._snapshots += 1
        self._bytes += sum(sizes)

    async def _fetch(self, snapshot: dict[str, Any], aside: Path) -> list[int]:
        """Writes the chunks one after the other; their sizes, up to where the pool had them."""
        sizes: list[int] = []
        with aside.open("wb") as file:
            for index in range(snapshot["chunks"]):
                chunk = await self.peers.pool.snapshot_chunk(snapshot["id"], index)
                if chunk is None:
                    break
                sizes.append(await asyncio.to_thread(file.write, chunk))
        return sizes


def _chunks(path: Path, sizes: list[int]) -> Iterator[bytes]:
    with path.open("rb") as file:
        for size in sizes:
            yield file.read(size)


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
