"""What every sink of a run's numbers can do.

Invariant: a sink has one caller at a time, and may raise whatever its file or library raises: the writer switches it
off then. It decides nothing about the run.
"""

from __future__ import annotations

from typing import Any, Protocol

Record = dict[str, Any]


class Sink(Protocol):
    """One place where numbers go. A record's "policy" is absent or empty for the run's own."""

    def step(self, record: Record) -> None:
        """A learner update."""

    def gauges(self, status: Record) -> None:
        """The run's status, every few seconds; some of them may be left out."""

    def event(self, kind: str, record: Record) -> None:
        """Anything else worth a line: an evaluation, a fallback, an alarm."""

    def close(self) -> None:
        """Whatever was handed in is written; nothing outlives this process."""
