"""What a sandbox has done lately, and what it is doing now: speed, waiting, verdicts by kind.

Invariant: numbers only; nothing of a program's values, and nothing here decides anything. One thread a replica writes,
others read.
"""

import hashlib
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from envpool.sandbox.results import Fault, Job, Mode, Result

WINDOW_SECONDS = 10.0
KEPT = 4096  # newest jobs that p50 and p99 are read from


@dataclass(frozen=True, slots=True)
class Running:
    """A job under way in one zygote."""

    program: str  # id that the program has, or would have, in a pool
    mode: Mode
    calls: int
    replica: int
    since: float  # seconds since the epoch


class Meter:
    """Counts of one executor."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._verdicts: Counter[str] = Counter()
        self._jobs: deque[tuple[float, float, int]] = deque(maxlen=KEPT)  # ended at, seconds, calls
        self._running: dict[int, Running] = {}
        self._lock = threading.Lock()

    @contextmanager
    def job(self, job: Job) -> Iterator[Callable[[Sequence[Result]], None]]:
        """Around one job, in the thread that runs it; the yielded callable takes its results."""
        started = self._clock()
        running = Running(program_id(job.source), job.mode, len(job.calls), job.replica, time.time())
        self._running[id(running)] = running
        try:
            yield self._judged
        finally:
            self._running.pop(id(running))
            ended = self._clock()
            with self._lock:
                self._jobs.append((ended, ended - started, len(job.calls)))

    def running(self) -> list[Running]:
        """What runs now, the longest first."""
        return sorted(self._running.values(), key=lambda each: each.since)

    def snapshot(self) -> dict[str, float]:
        """Calls a second over the last ten, seconds of a job at p50 and p99, and calls by verdict since the start."""
        with self._lock:
            jobs, verdicts = list(self._jobs), dict(self._verdicts)
        since = self._clock() - WINDOW_SECONDS
        recent = [job for job in jobs if job[0] >= since]
        # Where more ended than are kept, the window is as long as what is kept reaches back.
        span = self._clock() - recent[0][0] if len(recent) == KEPT else WINDOW_SECONDS
        return {
            "runs_per_second": sum(calls for _, _, calls in recent) / max(span, 1e-9),
            "p50_seconds": _quantile([seconds for _, seconds, _ in jobs], 0.50),
            "p99_seconds": _quantile([seconds for _, seconds, _ in jobs], 0.99),
            **{f"verdict_{kind}": float(count) for kind, count in sorted(verdicts.items())},
        }

    def _judged(self, results: Sequence[Result]) -> None:
        kinds = Counter(str(result.kind) if isinstance(result, Fault) else "ok" for result in results)
        with self._lock:
            self._verdicts.update(kinds)


def program_id(source: str) -> str:
    """As `envpool.members.Program.id`, of a source that may be no member."""
    return "p" + hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def _quantile(values: list[float], share: float) -> float:
    """The smallest value that `share` of them do not exceed; 0 where there are none."""
    return sorted(values)[math.ceil(share * len(values)) - 1] if values else 0.0
