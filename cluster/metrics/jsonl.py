"""`metrics.jsonl`: every step and event of a run, one line each, appended for as long as the run lives.

Invariant: lines are appended whole; what a killed writer left of its last line ends where the next one begins.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from cluster.metrics.sink import Record


class JsonlSink:
    """The lines of one file. Raises OSError, also for a full disk."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab", buffering=0)
        if self._file.tell() and not _ends_a_line(path):
            self._file.write(b"\n")

    def step(self, record: Record) -> None:
        """A line of kind "step"."""
        self.event("step", record)

    def gauges(self, status: Record) -> None:
        """Not for a file that only grows: `status.json` holds the newest."""

    def event(self, kind: str, record: Record) -> None:
        """A line of that kind; a key "kind" of the record itself wins."""
        line = json.dumps({"kind": kind, "at": time.time(), **record}, default=str) + "\n"
        rest = memoryview(line.encode(errors="backslashreplace"))
        while rest:
            rest = rest[self._file.write(rest) :]

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"
