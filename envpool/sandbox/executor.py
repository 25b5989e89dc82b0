"""Running programs from async code: the protocols, the modes, and an executor with local sandboxes.

Invariant: each sandbox is used by one thread, the same for its whole life, so its calls are in order. A mode decides
what a job shares a process with, here and nowhere else. Only sources that name a third-party package go to a sandbox
that has some, and no solver's own program does.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from envpool.sandbox.meter import Meter, Running
from envpool.sandbox.packages import Packages
from envpool.sandbox.results import (
    AUDIT_PATIENCE,
    Call,
    Done,
    FaultKind,
    InfrastructureFault,
    Job,
    Mode,
    Result,
    SandboxLimits,
    SandboxUnavailable,
)
from envpool.sandbox.supervisor import Sandbox

HASH_SEEDS = (1, 2, 3)  # one a replica: what differs between them depends on the hash seed
SECOND, ARBITER = 1, 2  # replicas that recompute what 0 said: the second opinion, and who is asked where they differ


class Executor(Protocol):
    """Whatever runs calls of a source and returns one result a call."""

    async def run(
        self, source: str, calls: Sequence[Call], *, mode: Mode = Mode.VERIFY, replica: int = 0
    ) -> list[Result]:
        """One result a call, in order; replicas 0 to 2 differ in zygote and hash seed. Raises InfrastructureFault.

        A search has one result a step, and last how it ended.
        """
        ...


class BatchExecutor(Executor, Protocol):
    """An executor that also takes many jobs at once."""

    async def run_many(self, jobs: Sequence[Job]) -> list[Done]:
        """What became of each job, in order; what the machine spoiled is in its place, and not raised."""
        ...


def perform(sandbox: Sandbox, job: Job) -> list[Result]:
    """One result a call, each where the job's mode wants it; of a search, all. Raises InfrastructureFault."""
    if job.mode is Mode.VALIDATE:
        return [result for call in job.calls for result in sandbox.run(job.source, [call], fresh=True)]
    if job.mode is Mode.AUDIT:
        return sandbox.run(job.source, job.calls, fresh=True, patience=AUDIT_PATIENCE)
    if job.mode is Mode.SEARCH:
        return sandbox.search(job.source, *job.calls)
    return sandbox.run(job.source, job.calls, fresh=job.mode is not Mode.VERIFY)


class LocalExecutor:
    """Sandboxes of this process, one a replica, each started at its first use; where `packages` may be imported, a
    second one a replica that has them, started at the first use of a source that names one.

    Raises SandboxUnavailable where a package is not there.
    """

    def __init__(
        self,
        limits: SandboxLimits | None = None,
        *,
        rung: str | None = None,
        allow_unsafe: bool = False,
        packages: Sequence[str] = (),
    ) -> None:
        self._packages, self._found = tuple(packages), Packages.found(packages)
        self._limits = limits
        self._rung, self._allow_unsafe = rung, allow_unsafe
        self._sandboxes: dict[tuple[int, bool], Sandbox] = {}  # by replica, and whether it has packages
        self._meter = Meter()
        self._threads = [
            ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"sandbox-{replica}")
            for replica in range(len(HASH_SEEDS))
        ]

    async def start(self) -> None:
        """Starts the first sandbox now, so that one that cannot be had is known at once. Raises SandboxUnavailable."""
        await asyncio.get_running_loop().run_in_executor(self._threads[0], self._sandbox, 0, False)

    async def run(
        self, source: str, calls: Sequence[Call], *, mode: Mode = Mode.VERIFY, replica: int = 0
    ) -> list[Result]:
        """As `Executor.run`. Raises InfrastructureFault, SandboxUnavailable."""
        (done,) = await self._in_thread(replica, [Job(source, tuple(calls), mode, replica)])
        if isinstance(done, Exception):
            raise done
        return done

    async def run_many(self, jobs: Sequence[Job]) -> list[Done]:
        """As `BatchExecutor.run_many`: the replicas side by side, the jobs of one in order."""
        places: dict[int, list[int]] = {}
        for place, job in enumerate(jobs):
            places.setdefault(job.replica, []).append(place)
        batches = await asyncio.gather(
            *(self._in_thread(replica, [jobs[n] for n in mine]) for replica, mine in places.items())
        )
        done: dict[int, Done] = {}
        for mine, batch in zip(places.values(), batches, strict=True):
            done.update(zip(mine, map(_without_verdict, batch), strict=True))
        return [done[place] for place in range(len(jobs))]

    async def sweep(self) -> None:
        """As `Sandbox.sweep`, once whatever a sandbox runs is done."""
        loop = asyncio.get_running_loop()
        await asyncio.gather(
            *(loop.run_in_executor(self._threads[n], box.sweep) for (n, _), box in list(self._sandboxes.items()))
        )

    @property
    def rung(self) -> str | None:
        """The rung that its sandboxes stand on; None before the first has started."""
        return next((sandbox.rung for sandbox in list(self._sandboxes.values())), None)

    def running(self) -> list[Running]:
        """What runs now, the longest first."""
        return self._meter.running()

    def metrics(self) -> dict[str, float]:
        """The meter's numbers, and the counts of the sandboxes added up."""
        counts: Counter[str] = Counter()
        for sandbox in list(self._sandboxes.values()):
            counts.update(sandbox.metrics())
        told = {f"verdict_{kind}" for kind in FaultKind}  # by the meter, which counts what has a value as well
        return self._meter.snapshot() | {k: n for k, n in counts.items() if f"verdict_{k}" not in told}

    def close(self) -> None:
        """Waits for the calls under way, then ends the sandboxes."""
        for thread in self._threads:
            thread.shutdown(wait=True, cancel_futures=True)
        for sandbox in self._sandboxes.values():
            sandbox.close()
        self._sandboxes.clear()

    async def _in_thread(self, replica: int, jobs: list[Job]) -> list[Done | SandboxUnavailable]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads[replica], self._run_all, replica, jobs)

    def _run_all(self, replica: int, jobs: list[Job]) -> list[Done | SandboxUnavailable]:
        return [self._run(replica, job) for job in jobs]

    def _run(self, replica: int, job: Job) -> Done | SandboxUnavailable:
        try:
            with self._meter.job(job) as judged:
                results = perform(self._sandbox(replica, self._needs_packages(job)), job)
                judged(results)
                return results
        except (InfrastructureFault, SandboxUnavailable) as error:
            return error

    def _needs_packages(self, job: Job) -> bool:
        return job.mode is not Mode.SOLUTION and self._found.mentioned(job.source)

    def _sandbox(self, replica: int, with_packages: bool) -> Sandbox:
        key = replica, with_packages
        if key not in self._sandboxes:
            self._sandboxes[key] = Sandbox(
                self._limits,
                hash_seed=HASH_SEEDS[replica],
                rung=self._rung,
                allow_unsafe=self._allow_unsafe,
                packages=self._packages if with_packages else (),
            )
        return self._sandboxes[key]


def _without_verdict(done: Done | SandboxUnavailable) -> Done:
    """A sandbox that cannot be had gives no verdict either."""
    return InfrastructureFault(str(done)) if isinstance(done, SandboxUnavailable) else done
