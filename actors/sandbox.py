"""The sandbox actor: a `LocalExecutor` behind a mailbox, and the group of them as one executor.

Invariant: this process never parses, compiles or unpickles what a program says; the executor's children do the
work. An infrastructure fault is tried on two more actors of the group and then raised: it is never a verdict.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from actors.base import Actor
from actors.peers import Peers, PeerUnavailable
from envpool.sandbox import (
    Call,
    InfrastructureFault,
    LocalExecutor,
    Result,
    SandboxLimits,
    SandboxUnavailable,
)

PLACES_TRIED = 3


class SandboxActor(Actor):
    """Runs jobs of calls; one job at a time a zygote."""

    background_nice = 5

    async def start(self) -> None:
        sandbox = self.config.sandbox
        self._executor = LocalExecutor(
            SandboxLimits(
                cpu_seconds=sandbox.cpu_seconds,
                wall_seconds=sandbox.wall_seconds,
                memory_mib=sandbox.memory_mib,
                output_kib=sandbox.output_kib,
                open_children=sandbox.open_children,
            )
        )
        self._jobs = self._calls = self._infrastructure = 0

    async def run(
        self, source: str, calls: Sequence[Call], fresh: bool = False, replica: int = 0
    ) -> list[Result]:
        """As `Executor.run`. Idempotent: a recomputation gives the same results."""
        await self.ready()
        self._jobs += 1
        self._calls += len(calls)
        try:
            return await self._executor.run(source, calls, fresh=fresh, replica=replica)
        except InfrastructureFault:
            self._infrastructure += 1
            raise

    def gauges(self) -> dict[str, float]:
        return {
            "jobs": self._jobs,
            "calls": self._calls,
            "infrastructure_faults": self._infrastructure,
            **{name: float(count) for name, count in self._executor.metrics().items()},
        }

    async def stop(self) -> None:
        await super().stop()
        self._executor.close()


class SandboxGroup:
    """All sandbox actors of a run as one `Executor`; a program keeps to one actor, where its child is open."""

    def __init__(self, peers: Peers, count: int) -> None:
        self._peers = peers
        self._count = count

    async def run(
        self, source: str, calls: Sequence[Call], *, fresh: bool = False, replica: int = 0
    ) -> list[Result]:
        """As `Executor.run`. Raises InfrastructureFault when no actor of the group could do the job."""
        first = int.from_bytes(hashlib.sha256(source.encode("utf-8", "surrogatepass")).digest()[:4], "big")
        last: Exception | None = None
        for place in range(PLACES_TRIED):
            try:
                peer = self._peers[f"sandbox-{(first + place) % self._count}"]
                return await peer.run(source, list(calls), fresh, replica)
            except (InfrastructureFault, SandboxUnavailable, PeerUnavailable) as fault:
                last = fault
        raise InfrastructureFault(f"{PLACES_TRIED} sandboxes failed; the last said: {last}")
