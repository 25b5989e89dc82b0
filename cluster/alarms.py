"""Alarms that stand: what of a run's facts an operator should act on, and for how long already.

    infrastructure   too many responses without a verdict          stall       no learner update for long
    mismatch         trainer and sampler disagree                  skipped     an update with a broken gradient
    replica          a node's replica lags behind                  admissions  nothing was admitted for long
    silent           an actor stopped reporting                    restarts    an actor dies again and again
    sink             metrics are written to fewer places    map         the pool or a replica is nearly full
    writer           a model that writes cannot be asked

Invariant: pure. An alarm stands exactly as long as its condition does; `since` is when the condition was first seen,
however the text's numbers change meanwhile. Gathering the facts is `cluster.metrics.watch`'s work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from cluster.sections.operating import AlarmsConfig

LEAST_FAULTS = 3
"""Fewer responses without verdict say nothing about a rate."""
MOST_RESTARTS = 5
"""Of one actor within RESTART_SECONDS."""
RESTART_SECONDS = 600.0
LONG_WAIT_SECONDS = 60.0
"""Who waits for the same for longer is named in a stall's text."""
SHOWN = 6


@dataclass(frozen=True, slots=True)
class Alarm:
    """`subject` is the actor, policy or node that it is about; with `kind` it says which alarm this is."""

    kind: str
    text: str
    since: float
    subject: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The same alarm has the same key, whatever its text."""
        return self.kind, self.subject

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the status."""
        return {"kind": self.kind, "subject": self.subject, "text": self.text, "since": self.since}


@dataclass(frozen=True, slots=True)
class Facts:
    """What alarms are made of. Times are seconds of the same clock as `now`; policies go by name, "" is the run's."""

    working: bool = False
    """In training, neither paused nor draining: updates and admissions are to be expected."""
    ending: bool = False
    """Draining or done: actors fall silent, as they should."""
    answers: int = 0
    """Responses with a verdict, within the watch's window."""
    faults: int = 0
    """Responses without one, for the machine's sake."""
    updated: Mapping[str, float] = field(default_factory=dict)
    """By policy with a learner: its last update, or since when it could have made one."""
    steps: Mapping[str, int] = field(default_factory=dict)
    waits: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    """By actor: for whom it waits, and since when."""
    last_update: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By policy: the last update's record."""
    lags: Mapping[str, float] = field(default_factory=dict)
    """By node: the replica's lag in seconds."""
    fills: Mapping[str, float] = field(default_factory=dict)
    """By actor that writes the pool or a replica: the share of the map that is used."""
    makers: tuple[str, ...] = ()
    """Who should be making members: enabled, and with an actor that reports."""
    admitted: float | None = None
    """When a member was last admitted, or since when one could have been."""
    refused: Mapping[str, int] = field(default_factory=dict)
    """Candidates since then, by the gate that they ended at."""
    reported: Mapping[str, float] = field(default_factory=dict)
    """By actor that is wanted: its last report."""
    restarts: Mapping[str, int] = field(default_factory=dict)
    """By actor, within RESTART_SECONDS."""
    troubles: Mapping[str, str] = field(default_factory=dict)
    """By generator whose model cannot be asked: why."""
    sinks_off: Mapping[str, str] = field(default_factory=dict)
    """By sink that was switched off: why."""


def standing(facts: Facts, settings: AlarmsConfig, now: float, before: Iterable[Alarm] = ()) -> list[Alarm]:
    """All alarms that stand now, the longest first. `before`: those that stood last time; they keep their `since`."""
    known = {alarm.key: alarm.since for alarm in before}
    found = (replace(alarm, since=known.get(alarm.key, alarm.since)) for alarm in _all(facts, settings, now))
    return sorted(found, key=lambda alarm: (alarm.since, alarm.key))


def _all(facts: Facts, settings: AlarmsConfig, now: float) -> Iterator[Alarm]:
    yield from _infrastructure(facts, settings, now)
    yield from _stall(facts, settings, now)
    yield from _updates(facts, settings, now)
    yield from _replicas(facts, settings, now)
    yield from _maps(facts, settings, now)
    yield from _admissions(facts, settings, now)
    yield from _silent(facts, settings, now)
    yield from _restarts(facts, now)
    yield from _writers(facts, now)
    for name, reason in sorted(facts.sinks_off.items()):
        text = f"nothing more is written to {name}: {reason}. The other sinks go on; when the cause is gone, "
        yield Alarm("sink", f"{text}end the metrics actor's process, and it is made anew", now, name)


def _infrastructure(facts: Facts, settings: AlarmsConfig, now: float) -> Iterator[Alarm]:
    total = facts.answers + facts.faults
    if facts.faults >= LEAST_FAULTS and facts.faults > settings.infrastructure_rate * total:
        yield Alarm(
            "infrastructure",
            f"{facts.faults} of {total} recent responses ({facts.faults / total:.0%}) got no verdict, above "
            f"{settings.infrastructure_rate:.0%}. They are not trained on. Look at the sandboxes' first failures, "
            "and at memory and CPU of their nodes",
            now,
        )


def _stall(facts: Facts, settings: AlarmsConfig, now: float) -> Iterator[Alarm]:
    if not facts.working:
        return
    for policy, since in facts.updated.items():
        minutes = (now - since) / 60
        if minutes > settings.stall_minutes:
            waits = _long_waits(facts, policy, now)
            yield Alarm(
                "stall",
                f"{_whose(policy)}no update for {minutes:.0f} min after step {facts.steps.get(policy, 0)}. "
                f"{waits}. Look at the last one of that chain, and at why the buffer drops groups",
                now,
                policy,
            )


def _long_waits(facts: Facts, policy: str, now: float) -> str:
    """Who waits for whom, the longest first: a chain of the policy's own actors and of those that all share."""
    waits = [
        (now - since, actor, target)
        for actor, (target, since) in facts.waits.items()
        if target and now - since > LONG_WAIT_SECONDS and actor.rpartition(".")[0] in ("", policy)
    ]
    if not waits:
        return "Nobody waits for the same for over a minute: every stage is slow rather than stuck"
    waits.sort(key=lambda wait: (-wait[0], wait[1]))
    words = [f"{actor} waits for {target} ({waited / 60:.0f} min)" for waited, actor, target in waits[:SHOWN]]
    more = f" and {len(waits) - SHOWN} more" if len(waits) > SHOWN else ""
    return f"{', '.join(words)}{more}"


def _updates(facts: Facts, settings: AlarmsConfig, now: float) -> Iterator[Alarm]:
    for policy, record in facts.last_update.items():
        step, difference = record.get("step", 0), record.get("logprob_diff")
        gradient = record.get("grad_norm", 0.0)
        if difference is not None and not difference <= settings.logprob_diff:
            yield Alarm(
                "mismatch",
                f"{_whose(policy)}trainer and sampler differ by {difference:.3g} in log-probability at step {step}, "
                f"above {settings.logprob_diff:g}. Compare policy.dtype with learner.precision, and the solvers' "
                "version with the learner's",
                now,
                policy,
            )
        if record.get("skipped") or not isfinite(gradient):
            yield Alarm(
                "skipped",
                f"{_whose(policy)}the gradient of step {step} was not finite ({gradient}); the update was skipped. "
                "Where it repeats, lower learner.lr or use learner.precision=fp32",
                now,
                policy,
            )


def _replicas(facts: Facts, settings: AlarmsConfig, now: float) -> Iterator[Alarm]:
    for node, lag in sorted(facts.lags.items()):
        if not lag <= settings.replica_lag_seconds:
            yield Alarm(
                "replica",
                f"the replica on node {node} is {lag:.1f} s behind the pool, above {settings.replica_lag_seconds:g} s. "
                "Its actors read older members. Look at the node's disk and at its network to the head",
                now,
                node,
            )


def _maps(facts: Facts, settings: AlarmsConfig, now: float) -> Iterator[Alarm]:
    for actor, fill in sorted(facts.fills.items()):
        if fill > settings.map_fill:
            yield Alarm(
                "map",
                f"{fill:.0%} of the map of {actor} is used, and when it is full nothing can be written. Stop the run, "
                "raise pool.map_size_gib, and resume it",
                now,
                actor,
            )


def _admissions(facts: Facts, settings: AlarmsConfig, now: float) -> Iterator[Alarm]:
    if not facts.working or not facts.makers or facts.admitted is None:
        return
    minutes = (now - facts.admitted) / 60
    if minutes > settings.zero_admissions_minutes:
        ends = sorted(facts.refused.items(), key=lambda item: (-item[1], item[0]))[:3]
        gates = ", ".join(f"{count} at {gate}" for gate, count in ends if count)
        words = f"Candidates since then ended {gates}" if gates else "There was no candidate either"
        yield Alarm(
            "admissions",
            f"no member was admitted for {minutes:.0f} min, though {', '.join(facts.makers)} should make some. "
            f"{words}. `envolve pool ls --status rejected` shows the reasons",
            now,
        )


def _silent(facts: Facts, settings: AlarmsConfig, now: float) -> Iterator[Alarm]:
    if facts.ending:
        return
    for actor, at in sorted(facts.reported.items()):
        if now - at > settings.report_seconds:
            yield Alarm(
                "silent",
                f"{actor} has not reported for {now - at:.0f} s. It is busy, hangs, or is being made anew; the "
                "supervisor kills it where it answers no heartbeat",
                now,
                actor,
            )


def _restarts(facts: Facts, now: float) -> Iterator[Alarm]:
    for actor, count in sorted(facts.restarts.items()):
        if count > MOST_RESTARTS:
            yield Alarm(
                "restarts",
                f"{actor} was made anew {count} times in {RESTART_SECONDS / 60:.0f} min. Its first failure, or its "
                f"log (`ray logs actor`), says why it dies",
                now,
                actor,
            )


def _writers(facts: Facts, now: float) -> Iterator[Alarm]:
    for actor, reason in sorted(facts.troubles.items()):
        policy = actor.rpartition(".")[0]
        way = f", or `envolve detach {policy}`" if policy else ""
        yield Alarm(
            "writer",
            f"{actor} gets no proposals: {reason}. Nothing is judged for that, and it asks again and again; look at "
            f"what answers for the model{way}",
            now,
            actor,
        )


def _whose(policy: str) -> str:
    return f"{policy}: " if policy else ""
