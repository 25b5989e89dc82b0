"""Prometheus, through the metrics agent that Ray runs on every node: names begin with `ray_envolve_`.

Scraped from the port in `MetricsExportPort` of `ray list nodes`, or with Ray's own service discovery file; no token
is asked for. Invariant: a series whose subject is gone (an actor that was scaled away) is taken back. After a restart
of the metrics actor Ray's agent still shows the series of the dead process, under its own `WorkerId`; the series with
the smallest `ray_envolve_running_seconds` are the living ones.
It knows nothing of what the figures mean: `cluster.metrics.points` names them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from cluster.metrics import points
from cluster.metrics.points import COUNTERS, GAUGES, Point
from cluster.metrics.sink import Record


class PrometheusSink:
    """Ray's gauges and counters of one run. Needs a Ray worker around it; one sink a process."""

    def __init__(self, run: str, policy: str) -> None:
        from ray.util.metrics import Counter, Gauge

        self._run, self._policy = run, policy
        self._gauges = {name: Gauge(name, text, tag_keys=labels) for name, (text, labels) in GAUGES.items()}
        self._counters = {
            name: Counter(name, text, tag_keys=labels) for name, (text, labels) in COUNTERS.items()
        }
        self._shown: set[tuple[str, tuple[str, ...]]] = set()

    def step(self, record: Record) -> None:
        """The last update's figures, by policy."""
        owner = str(record.get("policy") or self._policy)
        for point in points.step_points(record, self._policy):
            self._set(point)
        self._count("envolve_updates", owner)
        self._count("envolve_events", "step")

    def gauges(self, status: Record) -> None:
        """All figures of the status; what it shows no more is taken back."""
        self._show(points.points(status, self._policy))

    def event(self, kind: str, record: Record) -> None:
        """Counted by kind."""
        self._count("envolve_events", kind)

    def close(self) -> None:
        """What stands ends with the process; series that say "now" are taken back."""
        self._show(())

    def _show(self, given: Iterable[Point]) -> None:
        shown = set()
        for point in given:
            self._set(point)
            shown.add((point.name, point.labels))
        for name, labels in self._shown - shown:
            self._set(Point(name, labels, math.nan))  # Ray's agent leaves such a series out
        self._shown = shown

    def _set(self, point: Point) -> None:
        self._gauges[point.name].set(float(point.value), tags=self._tags(GAUGES[point.name][1], point.labels))

    def _count(self, name: str, label: str) -> None:
        self._counters[name].inc(1.0, tags=self._tags(COUNTERS[name][1], (label,)))

    def _tags(self, keys: tuple[str, ...], labels: tuple[str, ...]) -> dict[str, Any]:
        return dict(zip(keys, (self._run, *labels), strict=True))
