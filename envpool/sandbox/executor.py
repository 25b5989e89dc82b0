"""Running programs from async code: the protocol, and an executor with two local sandboxes.

Invariant: each sandbox is used by one thread, the same for its whole life, so its calls are in order.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from envpool.sandbox.results import Call, Result, SandboxLimits
from envpool.sandbox.supervisor import Sandbox

HASH_SEEDS = (1, 2)  # one a replica: what differs between them depends on the hash seed


class Executor(Protocol):
    """Whatever runs calls of a source and returns one result a call."""

    async def run(
        self, source: str, calls: Sequence[Call], *, fresh: bool = False, replica: int = 0
    ) -> list[Result]:
        """As `Sandbox.run`; replicas 0 and 1 differ in zygote and hash seed. Raises InfrastructureFault."""
        ...


class LocalExecutor:
    """Two sandboxes of this process, each started at its first use."""

    def __init__(
        self, limits: SandboxLimits | None = None, *, rung: str | None = None, allow_unsafe: bool = False
    ) -> None:
        self._limits = limits
        self._rung, self._allow_unsafe = rung, allow_unsafe
        self._sandboxes: dict[int, Sandbox] = {}
        self._threads = [
            ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"sandbox-{replica}")
            for replica in range(len(HASH_SEEDS))
        ]

    async def run(
        self, source: str, calls: Sequence[Call], *, fresh: bool = False, replica: int = 0
    ) -> list[Result]:
        """As `Sandbox.run`. Raises InfrastructureFault, SandboxUnavailable."""
        work = asyncio.get_running_loop().run_in_executor(
            self._threads[replica], self._run, source, calls, fresh, replica
        )
        return await work

    def metrics(self) -> dict[str, int]:
        """The counts of both sandboxes added up."""
        total: dict[str, int] = {}
        for sandbox in list(self._sandboxes.values()):
            for name, count in sandbox.metrics().items():
                total[name] = total.get(name, 0) + count
        return total

    def close(self) -> None:
        """Waits for the calls under way, then ends both sandboxes."""
        for thread in self._threads:
            thread.shutdown(wait=True, cancel_futures=True)
        for sandbox in self._sandboxes.values():
            sandbox.close()
        self._sandboxes.clear()

    def _run(self, source: str, calls: Sequence[Call], fresh: bool, replica: int) -> list[Result]:
        if replica not in self._sandboxes:
            self._sandboxes[replica] = Sandbox(
                self._limits, hash_seed=HASH_SEEDS[replica], rung=self._rung, allow_unsafe=self._allow_unsafe
            )
        return self._sandboxes[replica].run(source, calls, fresh=fresh)
