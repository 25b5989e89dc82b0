"""All sandbox actors of a run as one executor.

Invariant: a program keeps to one sandbox, where its child is open, and keeps to it when others come or go
(highest random weight). A sandbox that leaves, is full, away or fails is passed over: one that is full is asked again,
and where all are, the job waits; when three places failed it is an infrastructure fault, never a verdict. One that said
it leaves is left alone for a while, by all jobs, so that it can end; that fails a job only where each said so to that
job, again and again. Jobs for one sandbox that are asked for at the same time travel in one call. An audit goes to
another sandbox than the one it looks after, where there is another.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b

from actors.gathering import Gathering
from actors.peers import PeerRetired, Peers, PeerUnavailable
from envpool.sandbox import Call, Done, InfrastructureFault, Job, Mode, Result, SandboxUnavailable

PLACES_TRIED = 3
CALLS_AT_ONCE = 2
"""To one zygote: while it works on one batch, the next one is on its way."""
JOBS_A_CALL = 16
"""A batch is answered whole: one slow program holds back so many results, and a kill repeats so many, and no more.
Where a composite is measured a job has the calls of up to 16 instances (`Merging`)."""
LEAVING_SECONDS = 3.0
"""Before one that leaves is asked again, by any job: it ends only once nobody has asked for a moment."""
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.02, 1.0
"""Before a job is offered again where every sandbox is full."""


class SandboxLeaving(RuntimeError):
    """This sandbox takes no more jobs: it is scaled away or moved."""


class SandboxFull(RuntimeError):
    """This sandbox has as many jobs waiting as it holds; none of those of the call was begun."""


class SandboxGroup:
    """A `BatchExecutor` over however many sandboxes the run has at the moment."""

    def __init__(self, peers: Peers, count: Callable[[], int]) -> None:
        self._peers = peers
        self._count = count
        self._desks: dict[tuple[str, int], Gathering] = {}
        self._left: dict[str, float] = {}
        """when one that leaves may be asked again: by then another may bear its name"""

    async def run(
        self,
        source: str,
        calls: Sequence[Call],
        *,
        mode: Mode = Mode.VERIFY,
        replica: int = 0,
        packages: bool = False,
    ) -> list[Result]:
        """As `Executor.run`. Raises InfrastructureFault when no actor of the group could do the job."""
        return await self._run(Job(source, tuple(calls), mode, replica, packages))

    async def run_many(self, jobs: Sequence[Job]) -> list[Done]:
        """As `BatchExecutor.run_many`: one call to each sandbox that is to do some of them."""
        return list(await asyncio.gather(*map(self._done, jobs)))

    async def _done(self, job: Job) -> Done:
        try:
            return await self._run(job)
        except InfrastructureFault as fault:
            return fault

    async def _run(self, job: Job) -> list[Result]:
        failed: Counter[str] = Counter()
        faults: list[Exception] = []
        left: set[str] = set()
        full: set[str] = set()
        pause, rounds = FIRST_PAUSE_SECONDS, 0
        while len(faults) < PLACES_TRIED:
            names = places(job, self._count())
            there = [name for name in names if name not in left | full and not self._leaves(name)]
            if there:
                name = min(there, key=lambda name: failed[name])  # the first of those that failed least
                try:
                    return await self._ask(name, job)
                except SandboxFull:
                    full.add(name)
                except (SandboxLeaving, PeerRetired):
                    left.add(name)
                    self._left[name] = time.monotonic() + LEAVING_SECONDS
                except (InfrastructureFault, SandboxUnavailable, PeerUnavailable) as fault:
                    faults.append(fault)
                    failed[name] += 1
            elif full:
                full.clear()
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            elif unasked := [name for name in names if name not in left]:
                await self._first_back(unasked)  # another job was told that they leave, which is no fault of this one
            elif rounds < PLACES_TRIED:
                rounds += 1
                left.clear()
                await asyncio.sleep(0.0 if names else LEAVING_SECONDS)
            else:
                raise InfrastructureFault(f"every sandbox is leaving, and said so {rounds + 1} times")
        raise InfrastructureFault(f"{PLACES_TRIED} sandboxes failed; the last said: {faults[-1]}")

    def _leaves(self, name: str) -> bool:
        return time.monotonic() < self._left.get(name, 0.0)

    async def _first_back(self, names: Sequence[str]) -> None:
        """Until the first of these may be asked again."""
        await asyncio.sleep(max(0.0, min(self._left.get(name, 0.0) for name in names) - time.monotonic()))

    async def _ask(self, name: str, job: Job) -> list[Result]:
        """The job's results, by this sandbox; raises what it raised, and a fault of the machine that it told."""
        key = (name, job.replica)  # each replica is a zygote, and the jobs of one do not wait for another's
        if key not in self._desks:

            async def send(requests: list[tuple[str, tuple[Job, ...]]]) -> list[Done]:
                return await self._peers[name].run_many([job for _, (job,) in requests])

            self._desks[key] = Gathering(send, CALLS_AT_ONCE, JOBS_A_CALL)
        return await self._desks[key].write("run", (job,))


def places(job: Job, count: int) -> list[str]:
    """The sandboxes in the order in which a job prefers them: each opinion of an audit comes from another one."""
    names = ranked(job.source, count)
    first = job.replica % count if job.mode is Mode.AUDIT and count else 0
    return names[first:] + names[:first]


def ranked(source: str, count: int) -> list[str]:
    """The sandboxes in the order in which a program prefers them."""
    key = blake2b(source.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    names = [f"sandbox-{index}" for index in range(count)]
    return sorted(names, key=lambda name: blake2b(name.encode(), key=key, digest_size=8).digest())
