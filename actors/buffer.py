"""The buffer actor: groups between a policy's solvers and its learner, and whose turn it is.

Invariant: a group is in the pool before its solver hears that it was put, and a batch is handed out, and called
trained, only once the pool has that, so that no group is lost with this process, a group whose update was lost waits
again, and none is trained twice. Staleness is bounded by what is handed out here, by explicit states
(`training.buffer`), not by what is thrown away later. What a quarantined member was asked is not trained on. With
`learner.turns` no permit is given while the learner trains, so that the two do not contend for the same cores. It
leaves after whoever still calls it.
"""

from __future__ import annotations

import time
from typing import Any

from actors.base import Actor
from envpool.members import Status
from training.buffer import GroupBuffer
from training.kept_buffer import KeptBuffer


class BufferActor(Actor):
    """Permits to solvers, batches to learners."""

    async def start(self) -> None:
        learner, own, pool = self.config.learner, self.config.own, self.peers.pool
        buffer = GroupBuffer(
            learner.groups_per_step,
            learner.max_staleness,
            f"{time.time_ns():x}-",
            self._is_distrusted,
            self.config.generator.max_staleness,
        )
        self._kept = KeptBuffer(buffer, pool, own("buffer"))
        await self._kept.load()
        self._version = int((await pool.state(own("weights")) or {}).get("version", 0))

    async def reserve(self, owner: str, count: int) -> list[str]:
        """Permits to generate a group each; none while it is not the solver's turn. Unused ones are released."""
        await self.ready()
        if not self.working:
            return []
        buffer = self._kept.buffer
        if self.config.learner.turns and buffer.counts()["taken"]:
            return []
        return buffer.reserve(count, self._version, owner=owner)

    async def put(self, permit: str, group: dict[str, Any]) -> str:
        """Hand in a permit's group; returns the state it went to. Idempotent."""
        await self.ready()
        return await self._kept.put(permit, group)

    async def offer(self, group: dict[str, Any]) -> str:
        """A group that needs no permit (a generator's). Idempotent by the group's id."""
        await self.ready()
        return await self._kept.offer(group, self._version)

    async def release(self, permit: str, reason: str) -> None:
        """Give a permit back without a group. Idempotent."""
        await self.ready()
        self._kept.buffer.release(permit, reason)

    async def forget(self, owner: str) -> None:
        """Free the permits of a solver that died. Idempotent."""
        await self.ready()
        self._kept.buffer.forget(owner)

    async def take(self, version: int) -> list[dict[str, Any]] | None:
        """A full batch for the learner at this version, or None while there is none."""
        await self.ready()
        self._version = version
        groups = await self._kept.take(version)
        return None if groups is None else [group.to_dict() for group in groups]

    async def trained(self, ids: list[str], version: int) -> None:
        """These groups are in the weights of `version`. Idempotent."""
        await self.ready()
        self._version = version
        await self._kept.trained(ids, version)

    async def checkpointed(self, version: int) -> None:
        """Groups trained up to `version` are safe and may be forgotten."""
        await self.ready()
        await self._kept.checkpointed(version)

    async def reopen(self, since: int, version: int) -> int:
        """The weights fell back: groups trained after `since` wait again, under `version`. Returns how many."""
        await self.ready()
        self._version = version
        return await self._kept.reopen(since, version)

    async def drain(self) -> None:
        await super().drain()
        await self.until_gone(self.config.own("solver"), self.config.own("learner"))

    def _is_distrusted(self, member: str) -> bool:
        """Asked of the pool each time, so that no message can be lost; the buffer is where the pool is."""
        return self.pool_reader.status(member) is Status.QUARANTINED

    def gauges(self) -> dict[str, float]:
        if not hasattr(self, "_kept"):
            return {}
        return {state: float(count) for state, count in self._kept.buffer.counts().items()}
