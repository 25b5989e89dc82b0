"""What the alarms need to know of a run over time, gathered from reports, updates and statuses.

Invariant: it keeps numbers and times only, takes the time from its caller, and touches neither files nor actors. What
is missing (an older actor's report without a key, no supervisor yet) is not a fact, and raises no alarm.
`cluster.alarms` judges.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from cluster.alarms import RESTART_SECONDS, Facts
from cluster.metrics import names
from cluster.metrics.sink import Record

WINDOW_SECONDS = 300.0
"""Of the infrastructure failure rate."""
ADMITTED = "admitted"


class Watch:
    """The memory between two statuses. `makers`: kinds of actors that should make members."""

    def __init__(self, makers: Iterable[str]) -> None:
        self._makers = tuple(makers)
        self._answers: deque[tuple[float, int, int]] = deque()
        self._faults: dict[str, tuple[Any, float]] = {}
        self._waits: dict[str, tuple[str, float]] = {}
        self._reported: dict[str, float] = {}
        self._fills: dict[str, float] = {}
        self._troubles: dict[str, str] = {}
        self._restarts = Restarts()
        self._last: dict[str, Record] = {}
        self._updated: dict[str, float] = {}
        self._working_since: float | None = None
        self._admitted: tuple[int, float] | None = None
        self._refused: Counter[str] = Counter()
        self.sinks_off: dict[str, str] = {}

    def report(self, report: Record, now: float) -> None:
        """An actor's own report."""
        name = report["name"]
        self._reported[name] = now
        waiting = report.get("waiting_for", "")
        if self._waits.get(name, ("", 0.0))[0] != waiting or name not in self._waits:
            self._waits[name] = (waiting, now)
        pid = report.get("pid")
        self._restarts.seen(name, pid, now)
        if (overview := report.get("overview")) is not None:
            self._restarts.told(overview.get("restarts", {}), now)
        gauges = report.get("gauges", {})
        self._count_faults(name, pid, gauges.get("infrastructure_failures"), now)
        self._troubles[name] = report.get("trouble", "")
        if "map_fill" in gauges:
            self._fills[name] = gauges["map_fill"]

    def answered(self, count: int, now: float) -> None:
        """Responses that got a verdict."""
        self._answers.append((now, count, 0))

    def step(self, record: Record, now: float) -> None:
        """An update; a record's "policy" is empty for the run's own."""
        policy = str(record.get("policy") or "")
        self._last[policy], self._updated[policy] = record, now

    def forget(self, actors: Iterable[str]) -> None:
        """Actors that are not wanted any more."""
        for name in actors:
            for known in (self._reported, self._waits, self._faults, self._fills, self._troubles):
                known.pop(name, None)
            self._restarts.forget(name)

    def silent_since(self, then: float) -> set[str]:
        """Actors whose last report is older."""
        return {name for name, at in self._reported.items() if at < then}

    def facts(self, status: Record, wanted: Collection[str], now: float) -> Facts:
        """Everything the alarms are made of, as of now. `wanted`: names of the actors that should be there."""
        working = status["phase"] == "training" and not status.get("paused") and not status.get("draining")
        self._note_working(working, now)
        self._note_admissions(status.get("funnel", {}), now)
        while self._answers and self._answers[0][0] < now - WINDOW_SECONDS:
            self._answers.popleft()
        begun = now if self._working_since is None else self._working_since
        learners = _learners(status)
        # One that is attached again begins anew.
        self._updated = {name: self._updated.get(name, now) for name in learners}
        return Facts(
            working=working,
            ending=bool(status.get("draining")) or status["phase"] == "done",
            answers=sum(answers for _, answers, _ in self._answers),
            faults=sum(faults for _, _, faults in self._answers),
            updated={name: max(at, begun) for name, at in self._updated.items()},
            steps={name: int(policy.get("step") or 0) for name, policy in learners.items()},
            waits={name: wait for name, wait in self._waits.items() if name in wanted},
            last_update={name: record for name, record in self._last.items() if name in learners},
            lags={node["id"][:12]: node["replica_lag"] for node in status.get("nodes", ())
                  if node.get("replica_lag") is not None and node.get("alive", True)},
            fills={name: fill for name, fill in self._fills.items() if name in wanted},
            makers=self._running_makers(),
            admitted=max(self._admitted[1], begun) if self._admitted else None,
            refused=Counter(_refusals(status.get("funnel", {}))) - self._refused,
            reported={name: at for name, at in self._reported.items() if name in wanted},
            restarts=self._restarts.recent(now),
            troubles={name: text for name, text in self._troubles.items() if text and name in wanted},
            sinks_off=dict(self.sinks_off),
        )  # fmt: skip

    def _note_working(self, working: bool, now: float) -> None:
        if not working:
            self._working_since = None
        elif self._working_since is None:
            self._working_since = now

    def _note_admissions(self, funnel: Mapping[str, int], now: float) -> None:
        count = int(funnel.get(ADMITTED, 0))
        if self._admitted is None or count != self._admitted[0] or self._working_since == now:
            self._admitted = (count, now)
            self._refused = Counter(_refusals(funnel))

    def _running_makers(self) -> tuple[str, ...]:
        kinds = {names.parse(name).kind for name in self._reported}
        return tuple(kind for kind in self._makers if kind in kinds)

    def _count_faults(self, name: str, pid: Any, total: float | None, now: float) -> None:
        """Reports carry a sum since the actor was made: what it grew by is new. The first one seen is the base."""
        if total is None:
            return
        known = self._faults.get(name)
        self._faults[name] = (pid, total)
        if known is not None:
            base = known[1] if known[0] == pid and total >= known[1] else 0.0
            if grown := int(total - base):
                self._answers.append((now, 0, grown))


class Restarts:
    """How often each actor was made anew of late, as process ids and the supervisor's sums tell: each may miss some."""

    def __init__(self) -> None:
        self._pids: dict[str, Any] = {}
        self._sums: dict[str, int] | None = None
        self._changes: dict[str, deque[float]] = {}
        self._growths: dict[str, deque[float]] = {}

    def seen(self, name: str, pid: Any, now: float) -> None:
        """A report from that process."""
        if self._pids.setdefault(name, pid) != pid:
            self._changes.setdefault(name, deque(maxlen=100)).append(now)
        self._pids[name] = pid

    def told(self, sums: Mapping[str, int], now: float) -> None:
        """The supervisor's sums since it was made itself; the first one seen is the base."""
        if self._sums is not None:
            for name, total in sums.items():
                known = self._sums.get(name, 0)
                grown = total - known if total >= known else total  # less: another supervisor counts
                self._growths.setdefault(name, deque(maxlen=100)).extend([now] * grown)
        self._sums = dict(sums)

    def recent(self, now: float) -> dict[str, int]:
        """By actor, within RESTART_SECONDS; whoever had none is left out."""
        since = now - RESTART_SECONDS
        names_ = {*self._changes, *self._growths}
        counts = {
            name: max(
                sum(at > since for at in times.get(name, ())) for times in (self._changes, self._growths)
            )
            for name in names_
        }
        return {name: count for name, count in counts.items() if count}

    def forget(self, name: str) -> None:
        """It is not wanted any more."""
        for known in (self._pids, self._changes, self._growths):
            known.pop(name, None)


def _learners(status: Record) -> dict[str, Record]:
    """Policies that are trained here, the run's own as ""; the own alone in a status that says nothing of policies."""
    if (policies := status.get("policies")) is None:
        return {"": {}}
    return {"" if policy.get("own") else policy["name"]: policy for policy in policies if policy.get("trainable")}


def _refusals(funnel: Mapping[str, int]) -> dict[str, int]:
    return {str(gate): int(count) for gate, count in funnel.items() if gate != ADMITTED}
