"""The pool actor: the one writer of the run's LMDB, with grouped commits.

Invariant: it holds the only write handle, and a call is answered after its transaction is durable. Calls that
arrive together share one transaction (`envpool.store.group_commit`). All of them are idempotent but `record`,
whose doubles only add answers that were counted twice to a rate. Followers of other nodes ask it for changes, and for
a snapshot where changes do not reach. It judges nothing.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from typing import Any

from actors.base import Actor, node_id
from actors.gathering import portable
from actors.replication import ChangeBell, SnapshotShelf
from envpool.curation.standings import admission_answers, admission_level
from envpool.members import Member, Origin, Status
from envpool.store import PoolWriter, StoreError
from envpool.store.group_commit import GroupCommit

GIB = 1024**3
LOCK_PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
LONG_POLL_SECONDS = 1.0
AUDIT_SECRET = "audit_secret"
"""State that decides which draws of the run are audited; see `envpool.sandbox.audit.chosen`."""


class PoolActor(Actor):
    """Admits, rejects, moves and counts; everything else reads the files."""

    async def start(self) -> None:
        self._writer = await self._opened()
        try:
            self._writer.put_state("policy", self.config.policy.name)
            if self._writer.state(AUDIT_SECRET) is None:
                self._writer.put_state(AUDIT_SECRET, secrets.token_bytes(32))
        except StoreError:
            self._writer.close()  # or the next try would find the lock taken, by this process
            raise
        # LMDB takes no second handle of a process on the same files.
        self.pool_reader = self._writer  # type: ignore[assignment]
        self._commits = GroupCommit(self._writer)
        self._changes = 0
        self._snapshots = SnapshotShelf(self._writer, self.config.pool_folder / "snapshots")
        self._followers = ChangeBell(self._writer.log, asyncio.get_running_loop())

    async def write(self, calls: list[tuple[str, tuple[Any, ...]]]) -> list[Any]:
        """Several changes that travelled together; for each what it returned, or the exception that it raised."""
        await self.ready()
        done = await asyncio.gather(
            *(getattr(self, method)(*args) for method, args in calls), return_exceptions=True
        )
        return [portable(each) if isinstance(each, BaseException) else each for each in done]

    async def admit(self, member: dict[str, Any], reason: str, step: int) -> bool:
        """False when the member was there already. It starts with the level and the answers that admitted it."""
        return await self._commit(lambda pool: self._admit(pool, Member.from_dict(member), reason, step))

    async def reject(
        self, id: str, origin: str, gate: str, reason: str, evidence: dict[str, Any], source: str, step: int
    ) -> None:
        """Record why a candidate fell."""
        await self._commit(
            lambda pool: pool.reject(id, Origin(origin), gate, reason, evidence, source=source, step=step)
        )

    async def transition(self, id: str, to: str, reason: str, step: int) -> None:
        """Move an admitted member to another status."""
        await self._commit(lambda pool: pool.transition(id, Status(to), reason, step))

    async def distrust(self, id: str, reason: str, evidence: dict[str, Any], step: int) -> list[str]:
        """Quarantine a member that lies, with what is composed of it, and forget their answers; the ids concerned."""
        return await self._commit(lambda pool: pool.distrust(id, reason, evidence, step))

    async def record(self, counts: list[Any]) -> None:
        """Add answer counts to the statistics."""
        await self._commit(lambda pool: pool.record(counts))

    async def record_once(self, request: str, counts: list[Any]) -> bool:
        """The same once for each name of a request; False the second time. Idempotent."""
        return await self._commit(lambda pool: pool.record_once(request, counts))

    async def set_level(self, id: str, policy: str, level: int, reason: str) -> None:
        """The level that a policy is now asked at."""
        await self._commit(lambda pool: pool.set_level(id, policy, level, reason))

    async def place(self) -> dict[str, str]:
        """The Ray node that the pool lies on, and its folder there."""
        return {"node": node_id(), "path": str(self.config.pool_folder)}

    async def state(self, key: str) -> Any:
        """A piece of the run's own state, where a replica that lags behind would do harm."""
        await self.ready()
        return self._writer.state(key)

    async def newest(self) -> int:
        """Number of the newest transaction: a replica that has it is not behind."""
        await self.ready()
        return self._writer.log.newest.change

    async def put_state(self, key: str, value: Any) -> None:
        """Keep a piece of the run's own state."""
        await self._commit(lambda pool: pool.put_state(key, value))

    async def put_group(self, key: str, value: bytes) -> None:
        """Keep a group of answers, as the buffer packed it."""
        await self._commit(lambda pool: pool.put_group(key, value))

    async def drop_groups(self, keys: list[str]) -> None:
        """Let groups go; those that are gone already are no error."""
        await self._commit(lambda pool: pool.drop_groups(keys))

    async def groups(self, prefix: str) -> list[str]:
        """The keys of the groups that begin so, in order."""
        await self.ready()
        return self._writer.group_keys(prefix)

    async def group(self, key: str) -> bytes | None:
        """One group."""
        await self.ready()
        return self._writer.group(key)

    async def changes(self, after: int, mark: bytes) -> bytes | None:
        """`Changes`, packed, that follow a replica's position; empty where none came in a second.

        None: only a snapshot helps.
        """
        await self.ready()
        deadline = time.monotonic() + LONG_POLL_SECONDS
        while True:
            rung = self._followers.listen()
            found = self._writer.changes(after, mark)
            left = deadline - time.monotonic()
            if found is None or found.transactions or left <= 0:
                return None if found is None else found.pack()
            await asyncio.wait([rung], timeout=left)

    async def snapshot_begin(self) -> dict[str, Any]:
        """A snapshot for a follower: its id, number of chunks and bytes. Followers that ask together share one."""
        await self.ready()
        snapshot = await self._snapshots.begin()
        return {"id": snapshot.path.name, "chunks": snapshot.chunks, "bytes": snapshot.size}

    async def snapshot_chunk(self, id: str, index: int) -> bytes | None:
        """One chunk; None where newer snapshots took its place: begin again."""
        await self.ready()
        return await self._snapshots.chunk(id, index)

    def gauges(self) -> dict[str, float]:
        if not hasattr(self, "_writer"):
            return {}
        fill = self._writer.map_fill()
        return {"changes": self._changes, "position": self._writer.log.sequence, "map_fill": fill}

    async def stop(self) -> None:
        await super().stop()
        await asyncio.to_thread(self._commits.close)
        self._snapshots.clear()
        self._writer.close()

    def _admit(self, pool: PoolWriter, member: Member, reason: str, step: int) -> bool:
        if not pool.admit(member, Status.ACTIVE, reason=reason, step=step):
            return False
        policy = self.config.policy.name
        if answers := admission_answers(member, policy):
            pool.record(answers, step)
        if level := admission_level(member):
            pool.set_level(member.id, policy, level, "admitted at it", step)
        return True

    async def _opened(self) -> PoolWriter:
        # A killed predecessor may hold the lock for a moment.
        folder, map_size = self.config.pool_folder, int(self.config.pool.map_size_gib * GIB)
        for pause in LOCK_PAUSES:
            try:
                return PoolWriter.open(folder, map_size)
            except StoreError:
                await asyncio.sleep(pause)
        return PoolWriter.open(folder, map_size)

    async def _commit(self, change: Callable[[PoolWriter], Any]) -> Any:
        await self.ready()
        self._changes += 1
        return await asyncio.wrap_future(self._commits.submit(change))
