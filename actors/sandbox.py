"""The sandbox actor: a `LocalExecutor` behind a mailbox.

Invariant: this process never parses, compiles or unpickles what a program says; the executor's children do the
work. One that leaves finishes the jobs it has and refuses others, which go elsewhere (`actors.sandboxes`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from actors.base import Actor
from actors.sandboxes import SandboxLeaving
from envpool.sandbox import Call, InfrastructureFault, LocalExecutor, Result, SandboxLimits

QUIET_SECONDS = 1.0
"""Without a refused job, after which nobody is left who has not heard that this sandbox leaves."""


class SandboxActor(Actor):
    """Runs jobs of calls; one job at a time a zygote."""

    background_nice = 5

    def __init__(self, config: dict[str, Any], name: str) -> None:
        super().__init__(config, name)
        self._jobs = self._calls = self._infrastructure = self._running = 0
        self._asked = 0.0
        self._executor: LocalExecutor | None = None

    async def start(self) -> None:
        sandbox = self.config.sandbox
        self._executor = LocalExecutor(
            SandboxLimits(
                cpu_seconds=sandbox.cpu_seconds,
                wall_seconds=sandbox.wall_seconds,
                memory_mib=sandbox.memory_mib,
                output_kib=sandbox.output_kib,
                open_children=sandbox.open_children,
            ),
            rung=sandbox.rung,
            allow_unsafe=sandbox.allow_unsafe,
        )

    async def run(
        self, source: str, calls: Sequence[Call], fresh: bool = False, replica: int = 0
    ) -> list[Result]:
        """As `Executor.run`. Idempotent: a recomputation gives the same results. Raises SandboxLeaving."""
        await self.ready()
        assert self._executor is not None
        self._asked = time.monotonic()
        if self._leaving:
            raise SandboxLeaving(f"{self.name} takes no more jobs")
        self._jobs += 1
        self._running += 1
        self._calls += len(calls)
        try:
            return await self._executor.run(source, calls, fresh=fresh, replica=replica)
        except InfrastructureFault:
            self._infrastructure += 1
            raise
        finally:
            self._running -= 1

    async def drain(self) -> None:
        await super().drain()
        while self._running or time.monotonic() - self._asked < QUIET_SECONDS:
            await asyncio.sleep(0.05)

    def gauges(self) -> dict[str, float]:
        executor = self._executor.metrics() if self._executor is not None else {}
        return {
            "jobs": self._jobs,
            "running": self._running,
            "calls": self._calls,
            "infrastructure_faults": self._infrastructure,
            **{name: float(count) for name, count in executor.items()},
        }

    async def stop(self) -> None:
        await super().stop()
        if self._executor is not None:
            self._executor.close()
