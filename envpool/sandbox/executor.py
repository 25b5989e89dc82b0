"""Running programs from async code: the protocols, the modes, and an executor with local sandboxes.

Invariant: each sandbox is used by one thread, the same for its whole life, so its calls are in order. A mode decides
what a job shares a process with, here and nowhere else. A job goes to a sandbox that has third-party packages by right,
which its caller gives it; what its source says decides only whether it needs one.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

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
LOAD_AGAIN_SECONDS = 300.0
"""Before packages that did not load are loaded again (ours): each try may take minutes, and jobs wait for it."""


class Executor(Protocol):
    """Whatever runs calls of a source and returns one result a call."""

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        """One result a call, in order; replicas 0 to 2 differ in zygote and hash seed. Raises InfrastructureFault.

        `packages` is the right to run where third-party ones are (`Member.may_use_packages`).
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


class WithPackages:
    """An executor that gives each source the right to packages: for one that a person brought in."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = True,
    ) -> list[Result]:
        """As `Executor.run`."""
        return await self._executor.run(source, calls, mode=mode, replica=replica, packages=packages)


class _Place(NamedTuple):
    """Where jobs share a sandbox and its thread."""

    replica: int
    packages: bool


class LocalExecutor:
    """Sandboxes of this process, one a replica, each started at its first use; where `packages` may be imported, a
    second one a replica that has them, for jobs that have the right to them and name one. Those that do not never wait
    until packages are loaded.

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
        self._sandboxes: dict[_Place, Sandbox] = {}
        self._unloadable: dict[_Place, tuple[float, SandboxUnavailable]] = {}  # since when, and why
        self._meter = Meter()
        self._closed = False
        self._threads = {
            _Place(replica, packages): ThreadPoolExecutor(
                max_workers=1, thread_name_prefix=f"sandbox-{replica}{'-packages' * packages}"
            )
            for replica in range(len(HASH_SEEDS))
            for packages in sorted({False, bool(self._packages)})
        }

    async def start(self) -> None:
        """Starts the first sandbox now, and the first with packages if there are any, so that one that cannot be had is
        known at once. Raises SandboxUnavailable.
        """
        loop = asyncio.get_running_loop()
        first = [place for place in self._threads if place.replica == 0]
        await asyncio.gather(
            *(loop.run_in_executor(self._threads[place], self._sandbox, place) for place in first)
        )

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        """As `Executor.run`. Raises InfrastructureFault, SandboxUnavailable."""
        (done,) = await self._in_thread([Job(source, tuple(calls), mode, replica, packages)])
        if isinstance(done, Exception):
            raise done
        return done

    async def run_many(self, jobs: Sequence[Job]) -> list[Done]:
        """As `BatchExecutor.run_many`: the sandboxes side by side, the jobs of one in order."""
        numbers: dict[_Place, list[int]] = {}
        for number, job in enumerate(jobs):
            numbers.setdefault(self._place(job), []).append(number)
        batches = await asyncio.gather(
            *(self._in_thread([jobs[number] for number in mine]) for mine in numbers.values())
        )
        done: dict[int, Done] = {}
        for mine, batch in zip(numbers.values(), batches, strict=True):
            done.update(zip(mine, map(_without_verdict, batch), strict=True))
        return [done[number] for number in range(len(jobs))]

    async def sweep(self) -> None:
        """As `Sandbox.sweep`, once whatever a sandbox runs is done."""
        loop = asyncio.get_running_loop()
        await asyncio.gather(
            *(loop.run_in_executor(self._threads[at], box.sweep) for at, box in list(self._sandboxes.items()))
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
        """Waits for the calls under way, then ends the sandboxes. Who waits for his turn gets SandboxUnavailable."""
        self._closed = True
        for thread in self._threads.values():
            thread.shutdown(wait=True, cancel_futures=True)
        for sandbox in self._sandboxes.values():
            sandbox.close()
        self._sandboxes.clear()

    async def _in_thread(self, jobs: list[Job]) -> list[Done | SandboxUnavailable]:
        """What became of jobs of one place."""
        place = self._place(jobs[0])
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads[place], self._run_all, place, jobs)
        except (asyncio.CancelledError, RuntimeError):
            # Nobody cancelled the caller; its task must not end as if somebody had.
            if not self._closed or ((task := asyncio.current_task()) is not None and task.cancelling()):
                raise
            return [SandboxUnavailable("these sandboxes are closed")] * len(jobs)

    def _run_all(self, place: _Place, jobs: list[Job]) -> list[Done | SandboxUnavailable]:
        return [self._run(place, job) for job in jobs]

    def _run(self, place: _Place, job: Job) -> Done | SandboxUnavailable:
        try:
            with self._meter.job(job) as judged:
                results = perform(self._sandbox(place), job)
                judged(results)
                return results
        except (InfrastructureFault, SandboxUnavailable) as error:
            return error

    def _place(self, job: Job) -> _Place:
        return _Place(job.replica, job.packages and self._found.mentioned(job.source))

    def _sandbox(self, place: _Place) -> Sandbox:
        if place not in self._sandboxes:
            self._sandboxes[place] = self._loaded(place) if place.packages else self._started(place)
        return self._sandboxes[place]

    def _loaded(self, place: _Place) -> Sandbox:
        """One with packages, unless they did not load a while ago. Raises SandboxUnavailable."""
        since, reason = self._unloadable.get(place, (-LOAD_AGAIN_SECONDS, None))
        if reason is not None and time.monotonic() - since < LOAD_AGAIN_SECONDS:
            raise SandboxUnavailable(str(reason), reason.missing)
        try:
            return self._started(place, self._packages)
        except SandboxUnavailable as error:
            self._unloadable[place] = time.monotonic(), error
            raise

    def _started(self, place: _Place, packages: Sequence[str] = ()) -> Sandbox:
        return Sandbox(
            self._limits,
            hash_seed=HASH_SEEDS[place.replica],
            rung=self._rung,
            allow_unsafe=self._allow_unsafe,
            packages=packages,
        )


def _without_verdict(done: Done | SandboxUnavailable) -> Done:
    """A sandbox that cannot be had gives no verdict either."""
    return InfrastructureFault(str(done)) if isinstance(done, SandboxUnavailable) else done
