"""The buffer actor: groups between solvers and learner, and whose turn it is.

Invariant: a batch is handed out, and called trained, only once the pool has it, so that a group whose update was
lost with everything else waits again, and none is trained twice. Staleness is bounded by what is handed out here,
by explicit states (`training.buffer`), not by what is thrown away later. With `learner.turns` no permit is given
while the learner trains, so that the two do not contend for the same cores.
"""

from __future__ import annotations

import time
from typing import Any

from actors.base import Actor
from training.buffer import GroupBuffer
from training.trajectory import Group


class BufferActor(Actor):
    """Permits to solvers, batches to learners."""

    async def start(self) -> None:
        learner = self.config.learner
        self._buffer = GroupBuffer(
            learner.groups_per_step, learner.max_staleness, epoch=f"{time.time_ns():x}-"
        )
        if saved := self.pool_reader.state("buffer"):
            self._buffer.load_state_dict(saved)
        self._version = int((self.pool_reader.state("weights") or {}).get("version", 0))

    async def reserve(self, owner: str, count: int) -> list[str]:
        """Permits to generate a group each; none while it is not the solver's turn. Unused ones are released."""
        await self.ready()
        if self.phase != "training" or self.draining:
            return []
        if self.config.learner.turns and self._buffer.counts()["taken"]:
            return []
        return self._buffer.reserve(count, self._version, owner=owner)

    async def put(self, permit: str, group: dict[str, Any]) -> str:
        """Hand in a permit's group; returns the state it went to. Idempotent."""
        await self.ready()
        return self._buffer.put(permit, Group.from_dict(group))

    async def offer(self, group: dict[str, Any]) -> str:
        """A group that needs no permit (a generator's). Idempotent by the group's id."""
        await self.ready()
        return self._buffer.offer(Group.from_dict(group), self._version)

    async def release(self, permit: str, reason: str) -> None:
        """Give a permit back without a group. Idempotent."""
        await self.ready()
        self._buffer.release(permit, reason)

    async def forget(self, owner: str) -> None:
        """Free the permits of a solver that died. Idempotent."""
        await self.ready()
        self._buffer.forget(owner)

    async def take(self, version: int) -> list[dict[str, Any]] | None:
        """A full batch for the learner at this version, or None while there is none."""
        await self.ready()
        self._version = version
        groups = self._buffer.take(version)
        if groups is None:
            return None
        await self._save()
        return [group.to_dict() for group in groups]

    async def trained(self, ids: list[str], version: int) -> None:
        """These groups are in the weights of `version`. Idempotent."""
        await self.ready()
        self._buffer.trained(ids, version)
        self._version = version
        await self._save()

    async def checkpointed(self, version: int) -> None:
        """Groups trained up to `version` are safe and may be forgotten."""
        await self.ready()
        self._buffer.checkpointed(version)
        await self._save()

    async def reopen(self, since: int, version: int) -> int:
        """The weights fell back: groups trained after `since` wait again, under `version`. Returns how many."""
        await self.ready()
        self._version = version
        reopened = self._buffer.reopen(since, version)
        await self._save()
        return reopened

    def gauges(self) -> dict[str, float]:
        return {state: float(count) for state, count in self._buffer.counts().items()}

    async def _save(self) -> None:
        await self.peers.pool.put_state("buffer", self._buffer.state_dict())
