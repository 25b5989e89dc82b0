"""A status as Prometheus sees it: names, labels and values. Pure; `cluster.metrics.prometheus` hands them to Ray.

Every point is labelled with the run. The run's own policy goes by its name in the configuration. Figures of single
actors are few, since a run may have a thousand: everything else that actors count is summed by kind
(`envolve_actors_figure`).
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cluster.metrics import names
from cluster.metrics.sink import Record

ACTOR = ("run", "policy", "kind", "actor")
GAUGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "envolve_step": ("Learner updates in the living weights.", ("run", "policy")),
    "envolve_version": ("Version of the living weights.", ("run", "policy")),
    "envolve_checkpoint_step": ("Updates that are saved.", ("run", "policy")),
    "envolve_success": ("Success rate of recent answers.", ("run", "policy", "role")),
    "envolve_well_formed": ("Share of recent answers that are well-formed.", ("run", "policy", "role")),
    "envolve_answers_recent": ("Answers that the two rates are of.", ("run", "policy", "role")),
    "envolve_pool_members": ("Members of the pool by status.", ("run", "status")),
    "envolve_admitted": ("Members ever admitted by who made them.", ("run", "origin")),
    "envolve_candidates": ("Candidates by the gate that they ended at.", ("run", "gate")),
    "envolve_buffer_groups": ("Groups in the buffer; trained and dropped are sums.",
                              ("run", "policy", "state")),
    "envolve_solver_tokens_per_second": ("Response tokens a second of one solver.", ACTOR),
    "envolve_actor_failures": ("Failures of an actor's background loops since it was made.", ACTOR),
    "envolve_actor_report_age_seconds": ("Since the actor's last report.", ACTOR),
    "envolve_actor_restarts": ("Times that the supervisor made the actor anew.", ACTOR),
    "envolve_actors": ("Actors that report, by kind.", ("run", "policy", "kind")),
    "envolve_actors_waiting": ("Actors of a kind that wait, by whom they wait for.",
                               ("run", "policy", "kind", "waits_for")),
    "envolve_actors_figure": ("What actors of a kind count, summed.", ("run", "policy", "kind", "figure")),
    "envolve_replica_lag_seconds": ("p99 from a commit to its arrival in a node's replica.", ("run", "node")),
    "envolve_node_quarantined": ("1 while the supervisor places nothing on the node.", ("run", "node")),
    "envolve_node_actors": ("Actors of the run on the node.", ("run", "node")),
    "envolve_alarm_active": ("1 while an alarm of that kind stands.", ("run", "alarm")),
    "envolve_alarms": ("Alarms ever raised, by kind.", ("run", "alarm")),
    "envolve_paused": ("1 while the run is paused.", ("run",)),
    "envolve_running_seconds": ("Since the metrics actor was made.", ("run",)),
}  # fmt: skip
STEP_GAUGES = {
    "loss": "Loss of the last update.",
    "grad_norm": "Gradient norm of the last update, before clipping.",
    "kl": "KL divergence of trainer and sampler, k3.",
    "logprob_diff": "Mean absolute difference of log-probabilities between trainer and sampler.",
    "ratio_min": "Smallest raw importance ratio.",
    "ratio_mean": "Mean raw importance ratio.",
    "ratio_max": "Largest raw importance ratio.",
    "update_seconds": "Time of the last update.",
    "wait_seconds": "Time that the learner waited for its batch.",
    "publish_seconds": "Time to bring the last weights to all solvers.",
    "tokens_per_second": "Trained tokens a second of the last update.",
    "skipped": "1 where the last update was skipped, for a gradient that is not finite.",
}
GAUGES |= {f"envolve_{name}": (text, ("run", "policy")) for name, text in STEP_GAUGES.items()}
COUNTERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "envolve_updates": ("Learner updates since the metrics actor was made.", ("run", "policy")),
    "envolve_events": ("Lines of metrics.jsonl by kind since then.", ("run", "kind")),
}


@dataclass(frozen=True, slots=True)
class Point:
    """One value of one series; `labels` are in the order of the metric's label names, without the run."""

    name: str
    labels: tuple[str, ...]
    value: float


def points(status: Record, policy: str, now: float | None = None) -> Iterator[Point]:
    """All of a status. `policy` is the name of the run's own."""
    yield from _run(status, policy)
    yield from _pool(status)
    yield from _nodes(status)
    yield from _actors(status, policy, time.time() if now is None else now)


def step_points(record: Record, policy: str) -> Iterator[Point]:
    """Of an update."""
    for name in STEP_GAUGES:
        if isinstance(value := record.get(name), int | float):
            yield Point(f"envolve_{name}", (str(record.get("policy") or policy),), float(value))


def _run(status: Record, policy: str) -> Iterator[Point]:
    for role, rates in status.get("success", {}).items():
        kind, _, owner = role.partition(" ")
        labels = (owner or policy, kind)
        yield Point("envolve_success", labels, rates["success"])
        yield Point("envolve_well_formed", labels, rates["parsed"])
        yield Point("envolve_answers_recent", labels, rates["answers"])
    standing = Counter(alarm["kind"] for alarm in status.get("active_alarms", ()))
    raised = status.get("alarm_counts", {})
    for kind in {**raised, **standing}:
        yield Point("envolve_alarm_active", (kind,), float(kind in standing))
    for kind, count in raised.items():
        yield Point("envolve_alarms", (kind,), count)
    yield Point("envolve_paused", (), float(bool(status.get("paused"))))
    yield Point("envolve_running_seconds", (), status.get("running_seconds", 0.0))
    for spec in status.get("policies", ()):
        yield from _progress(spec)


def _progress(spec: Mapping[str, Any]) -> Iterator[Point]:
    for name, key in (("step", "step"), ("version", "version"), ("checkpoint_step", "saved")):
        if spec.get(key) is not None:
            yield Point(f"envolve_{name}", (spec["name"],), spec[key])


def _pool(status: Record) -> Iterator[Point]:
    for name, key in (("pool_members", "pool"), ("admitted", "origins"), ("candidates", "funnel")):
        for label, count in status.get(key, {}).items():
            yield Point(f"envolve_{name}", (str(label),), count)


def _nodes(status: Record) -> Iterator[Point]:
    for node in status.get("nodes", ()):
        if node.get("alive", True):
            yield Point("envolve_node_quarantined", (node["id"],), float(bool(node.get("quarantined"))))
            yield Point("envolve_node_actors", (node["id"],), node["actors"])
            if node.get("replica_lag") is not None:
                yield Point("envolve_replica_lag_seconds", (node["id"],), node["replica_lag"])


def _actors(status: Record, policy: str, now: float) -> Iterator[Point]:
    counts: Counter[tuple[str, str]] = Counter()
    waits: Counter[tuple[str, str, str]] = Counter()
    figures: Counter[tuple[str, str, str]] = Counter()
    restarts = status.get("restarts", {})
    for name, report in status.get("actors", {}).items():
        parsed = names.parse(name)
        owner, gauges = parsed.policy or policy, report.get("gauges", {})
        counts[owner, parsed.kind] += 1
        if report.get("waiting_for"):
            waits[owner, parsed.kind, report["waiting_for"]] += 1
        actor = (owner, parsed.kind, name)
        yield Point("envolve_actor_failures", actor, report.get("failures", 0))
        yield Point("envolve_actor_restarts", actor, restarts.get(name, 0))
        if "at" in report:
            yield Point("envolve_actor_report_age_seconds", actor, max(0.0, now - report["at"]))
        if parsed.kind == "solver" and "tokens_per_second" in gauges:
            yield Point("envolve_solver_tokens_per_second", actor, gauges["tokens_per_second"])
        for key, value in gauges.items():
            if parsed.kind == "buffer":
                yield Point("envolve_buffer_groups", (owner, key), value)
            elif isinstance(value, int | float) and not math.isnan(value):
                figures[owner, parsed.kind, key] += value  # type: ignore[assignment]
    for labels, count in counts.items():
        yield Point("envolve_actors", labels, count)
    for waiting, count in waits.items():
        yield Point("envolve_actors_waiting", waiting, count)
    for figure, value in figures.items():
        yield Point("envolve_actors_figure", figure, value)
