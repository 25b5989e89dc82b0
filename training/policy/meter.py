"""What an engine has done so far, counted where requests enter and leave."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from training.trajectory import Sample


class Meter:
    """Running counts. Invariant: busy time is the time in which at least one request was running."""

    def __init__(self) -> None:
        self._running = 0
        self._busy_since = 0.0
        self._counts = {"requests": 0.0, "samples": 0.0, "prompt_tokens": 0.0, "generated_tokens": 0.0,
                        "busy_seconds": 0.0, "updates": 0.0, "update_seconds": 0.0}

    @contextmanager
    def request(self) -> Iterator[Callable[[Sequence[Sample]], None]]:
        """Counts a request as running; the yielded callable takes its samples. A failed request counts no tokens."""
        if not self._running:
            self._busy_since = time.monotonic()
        self._running += 1
        try:
            yield self._finished
        finally:
            self._running -= 1
            if not self._running:
                self._counts["busy_seconds"] += time.monotonic() - self._busy_since

    def updated(self, seconds: float) -> float:
        """Counts a weight update that held requests for `seconds`, which it returns."""
        self._counts["updates"] += 1
        self._counts["update_seconds"] += seconds
        return seconds

    def snapshot(self) -> dict[str, float]:
        """The counts, requests running now, and tokens per busy second."""
        now = dict(self._counts)
        if self._running:
            now["busy_seconds"] += time.monotonic() - self._busy_since
        speed = now["generated_tokens"] / now["busy_seconds"] if now["busy_seconds"] else 0.0
        return {**now, "running": float(self._running), "tokens_per_second": speed}

    def _finished(self, samples: Sequence[Sample]) -> None:
        self._counts["requests"] += 1
        self._counts["samples"] += len(samples)
        self._counts["prompt_tokens"] += len(samples[0].prompt_ids)
        self._counts["generated_tokens"] += sum(len(sample.token_ids) for sample in samples)
