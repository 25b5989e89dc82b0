"""A stream of numbered jobs over whatever members a group has at the moment, while the run is scaled.

Each job leaves a line where it was done (`tests.simulated.light`), so that one can count what was lost and what was
done twice; and the stream counts what it was answered a second at each size.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from actors import roster
from actors.peers import Peers
from actors.sandboxes import SandboxGroup
from actors.solvers import SolverGroup
from cluster.wanted import KEY, kept
from envpool.sandbox import Call, Value
from envpool.store import PoolReader
from tests.simulated.runs import SimulatedRun

PATIENCE_SECONDS = 60.0
LIMIT_SECONDS = 240.0

Ask = Callable[[str], Awaitable[list[str]]]


class Stream:
    """Jobs of one kind of actor, `sandbox` or `solver`; each is answered with its own text."""

    def __init__(self, run: SimulatedRun, kind: str = "sandbox", at_once: int = 24) -> None:
        self._run, self._kind, self._at_once = run, kind, at_once
        self._marks = run.config.run_folder / f"marks-{kind}"
        self._over = asyncio.Event()
        self.counted = 0
        self.results: dict[str, list[str]] = {}
        self.rates: list[float] = []
        """Answers a second at each size that the run came to."""

    async def over(self, *sizes: int, seconds: float = 1.0) -> None:
        """Job after job, while the run comes to each of the sizes and keeps it for some seconds."""
        with PoolReader.open(self._run.config.pool_folder) as pool:
            ask = self._asking(pool)
            jobs = asyncio.gather(*(self._jobs(ask) for _ in range(self._at_once)))
            await self._through(sizes, seconds)
            self._over.set()
            await jobs

    async def _through(self, sizes: Sequence[int], seconds: float) -> None:
        for size in sizes:
            await asyncio.to_thread(self._run.ask, "supervisor", "scale", {self._kind: size})
            await asyncio.to_thread(self._run.until, lambda size=size: self._has(size), LIMIT_SECONDS)
            answered, since = len(self.results), time.monotonic()
            await asyncio.sleep(seconds)
            self.rates.append((len(self.results) - answered) / (time.monotonic() - since))

    def expected(self) -> dict[str, list[str]]:
        """The results of a stream that lost nothing."""
        return {job: [job] for job in map(self._job, range(1, self.counted + 1))}

    def executions(self) -> Counter[str]:
        """How often each job was done, in whichever process."""
        return Counter(job for path in self._marks.iterdir() for job in path.read_text().splitlines())

    def _asking(self, pool: PoolReader) -> Ask:
        config, peers = self._run.config, Peers(self._run.config.namespace, PATIENCE_SECONDS)
        if self._kind == "sandbox":
            sandboxes = SandboxGroup(peers, lambda: kept(pool.state(KEY), config).counts["sandbox"])
            return lambda job: _sandboxed(sandboxes, job)
        solvers = SolverGroup(peers, lambda: roster.solvers(config, kept(pool.state(KEY), config)))
        return lambda job: _solved(solvers, job)

    async def _jobs(self, ask: Ask) -> None:
        while not self._over.is_set():
            self.counted += 1
            job = self._job(self.counted)
            self.results[job] = await ask(job)

    def _job(self, number: int) -> str:
        return f"{self._kind} job {number}"

    def _has(self, size: int) -> bool:
        names = {name for name in self._run.pids() if name.startswith(f"{self._kind}-")}
        return names == {f"{self._kind}-{index}" for index in range(size)} and all(map(self._serves, names))

    def _serves(self, name: str) -> bool:
        beat = self._run.ask(name, "heartbeat", seconds=2.0)
        return bool(beat and beat["started"])


async def _sandboxed(sandboxes: SandboxGroup, job: str) -> list[str]:
    return [result.value for result in await sandboxes.run(job, [Call("solve", (1,))]) if isinstance(result, Value)]


async def _solved(solvers: SolverGroup, job: str) -> list[str]:
    [samples] = await solvers.generate([job], 1, 8, 1.0)
    return [sample["text"] for sample in samples]
