"""The one writer: hands every record to each sink that still works.

Invariant: a sink never holds up the run or another sink. Lines of `metrics.jsonl` are written at once; every other
sink has a thread of its own, and is opened there, since wandb takes a second for it. A sink that raises, or that
falls too far behind, is switched off and reported once with its first traceback; the others go on. Statuses that a
slow sink has no time for are left out, since the next one says it all.
"""

from __future__ import annotations

import queue
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from cluster.metrics.sink import Record, Sink

ROOM = 10_000
"""Records that may wait for one sink."""
CLOSE_SECONDS = 20.0

Opener = Callable[[], Sink]
Failed = Callable[[str, str], None]
"""Told a sink's name and its traceback, on whichever thread it happened."""


class Writer:
    """Several sinks as one. `lines` is written by the caller's own thread, `others` by theirs."""

    def __init__(
        self, lines: Mapping[str, Opener], others: Mapping[str, Opener], failed: Failed, room: int = ROOM
    ) -> None:
        self._channels: list[_Direct | _Threaded] = [
            *(_Direct(name, opener, failed) for name, opener in lines.items()),
            *(_Threaded(name, opener, failed, room) for name, opener in others.items()),
        ]

    def step(self, record: Record) -> None:
        """A learner update."""
        self._hand("step", record)

    def gauges(self, status: Record) -> None:
        """The run's status."""
        self._hand("gauges", status)

    def event(self, kind: str, record: Record) -> None:
        """Anything else worth a line."""
        self._hand("event", kind, record)

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """The sinks get that long, all together, to write what waits. Idempotent."""
        deadline = time.monotonic() + seconds
        for channel in self._channels:
            channel.end()
        for channel in self._channels:
            channel.ended(max(0.0, deadline - time.monotonic()))

    def _hand(self, method: str, *args: Any) -> None:
        for channel in self._channels:
            channel.hand(method, *args)


class _Direct:
    """A sink that is written by whoever hands something in."""

    def __init__(self, name: str, opener: Opener, failed: Failed) -> None:
        self._name, self._failed = name, failed
        self._sink: Sink | None = None
        self._guarded(lambda: setattr(self, "_sink", opener()))

    def hand(self, method: str, *args: Any) -> None:
        if self._sink is not None:
            self._guarded(lambda: getattr(self._sink, method)(*args))

    def end(self) -> None:
        self.hand("close")
        self._sink = None

    def ended(self, seconds: float) -> None:
        """It is, with `end`."""

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:  # noqa: BLE001 - whatever a file can raise, the run goes on without this sink
            trace, broken, self._sink = traceback.format_exc(), self._sink, None
            _released(broken)
            self._failed(self._name, trace)


class _Threaded:
    """A sink with a thread and a queue of its own."""

    def __init__(self, name: str, opener: Opener, failed: Failed, room: int) -> None:
        self._name, self._opener, self._failed, self._room = name, opener, failed, room
        self._waiting: queue.SimpleQueue[tuple[str, tuple[Any, ...]] | None] = queue.SimpleQueue()
        self._off = False
        # A daemon: a sink that hangs must not keep the process.
        self._thread = threading.Thread(target=self._run, name=f"sink {name}", daemon=True)
        self._thread.start()

    def hand(self, method: str, *args: Any) -> None:
        if self._off or (method == "gauges" and not self._waiting.empty()):
            return
        if self._waiting.qsize() >= self._room:
            self._off = True
            self._failed(self._name, f"the {self._name} sink fell {self._room} records behind")
            return
        self._waiting.put((method, args))

    def end(self) -> None:
        self._waiting.put(None)

    def ended(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        sink = None
        try:
            sink = self._opener()
            while (item := self._waiting.get()) is not None and not self._off:
                method, args = item
                getattr(sink, method)(*args)
            sink.close()
        except Exception:  # noqa: BLE001 - whatever a library can raise, the run goes on without this sink
            known, self._off = self._off, True
            if not known:
                self._failed(self._name, traceback.format_exc())
            _released(sink)


def _released(sink: Sink | None) -> None:
    """What a broken sink still holds, a process for example; that this fails too is no news."""
    if sink is not None:
        with suppress(Exception):
            sink.close()
