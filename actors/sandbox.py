"""The sandbox actor: a `LocalExecutor` behind a mailbox.

Invariant: this process never parses, compiles or unpickles what a program says; the executor's children do the
work. Its queue is bounded: one that is full, or that leaves, says so before it begins, and the jobs go elsewhere or
wait (`actors.sandboxes`); neither is ever a verdict. One that leaves finishes the jobs it has.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from actors.base import Actor
from actors.sandboxes import SandboxFull, SandboxLeaving
from envpool.sandbox import Call, Done, InfrastructureFault, Job, LocalExecutor, Mode, Result, SandboxLimits

SWEEP_SECONDS = 1.0
"""Between two looks at children that work though nobody asks them."""
QUIET_SECONDS = 1.0
"""Without a refused job, after which nobody is left who has not heard that this sandbox leaves."""


class SandboxActor(Actor):
    """Runs jobs of calls; one job at a time a zygote."""

    background_nice = 5

    def __init__(self, config: dict[str, Any], name: str) -> None:
        super().__init__(config, name)
        self._jobs = self._calls = self._infrastructure = self._refused = self._held = 0
        self._asked = 0.0
        self._executor: LocalExecutor | None = None

    async def start(self) -> None:
        sandbox = self.config.sandbox
        executor = LocalExecutor(
            SandboxLimits(
                cpu_seconds=sandbox.cpu_seconds,
                wall_seconds=sandbox.wall_seconds,
                memory_mib=sandbox.memory_mib,
                output_kib=sandbox.output_kib,
                open_children=sandbox.open_children,
            ),
            rung=sandbox.rung,
            allow_unsafe=sandbox.allow_unsafe,
            packages=sandbox.packages,
        )
        try:
            await executor.start()  # a node that cannot have one is known by its actor that does not start
        except BaseException:
            executor.close()
            raise
        self._executor = executor
        self.background("sweep", self._sweep_once)

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        """As `Executor.run`; otherwise as `run_many`."""
        (done,) = await self.run_many([Job(source, tuple(calls), mode, replica, packages)])
        if isinstance(done, InfrastructureFault):
            raise done
        return done

    async def run_many(self, jobs: Sequence[Job]) -> list[Done]:
        """As `BatchExecutor.run_many`. Idempotent: a recomputation gives the same results.

        Raises SandboxLeaving or SandboxFull, and then nothing was begun. An empty queue takes any number of jobs.
        """
        await self.ready()
        assert self._executor is not None
        self._asked = time.monotonic()
        if self._leaving:
            raise SandboxLeaving(f"{self.name} takes no more jobs")
        if self._held and self._held + len(jobs) > self.config.sandbox.queue:
            self._refused += len(jobs)
            raise SandboxFull(f"{self.name} has {self._held} jobs of {self.config.sandbox.queue} waiting")
        self._held += len(jobs)
        try:
            done = await self._executor.run_many(jobs)
        finally:
            self._held -= len(jobs)
        self._jobs += len(jobs)
        self._calls += sum(len(job.calls) for job in jobs)
        self._infrastructure += sum(isinstance(each, InfrastructureFault) for each in done)
        return done

    async def drain(self) -> None:
        await super().drain()
        while self._held or time.monotonic() - self._asked < QUIET_SECONDS:
            await asyncio.sleep(0.05)

    def running(self) -> list[dict[str, Any]]:
        """What each zygote runs now, the longest first: program, mode, calls, replica, and since when (epoch)."""
        return [asdict(each) for each in self._executor.running()] if self._executor is not None else []

    def health(self) -> dict[str, Any]:
        rung = self._executor.rung if self._executor is not None else None
        return super().health() | {"running": self.running(), "rung": rung}

    def gauges(self) -> dict[str, float]:
        executor = self._executor.metrics() if self._executor is not None else {}
        return {
            "queue": self._held,
            "running": len(self.running()),
            "runs_per_second": executor.get("runs_per_second", 0.0),
            "jobs": self._jobs,
            "calls": self._calls,
            **executor,
            "refused_full": self._refused,
            "infrastructure_faults": self._infrastructure,
        }

    async def _sweep_once(self) -> None:
        await asyncio.sleep(SWEEP_SECONDS)
        assert self._executor is not None
        await self._executor.sweep()

    async def stop(self) -> None:
        await super().stop()
        if self._executor is not None:
            self._executor.close()
