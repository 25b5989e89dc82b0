"""The tables of the terminal view, each from a part of a status.

Invariant: a part that an older or younger run does not report is an empty table or none, never an error; text that
came from programs cannot steer the terminal.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from cluster.inspect.visible import visible
from cluster.metrics import names
from envpool.admission.verdict import GATES

Status = dict[str, Any]
STEP_ROWS = 4
SHOWN_ALARMS = 4
SHOWN_FIGURES = 5
SHOWN_JOBS = 6
SHOWN_ID = 12


def success(status: Status) -> RenderableType:
    """Recent answers by role."""
    table = Table("role", "success", "well-formed", "answers", title="Recent answers")
    for role, rates in status["success"].items():
        table.add_row(role, f"{rates['success']:.3f}", f"{rates['parsed']:.2f}", f"{rates['answers']:.0f}")
    return table


def pool(status: Status) -> list[RenderableType]:
    """Members by status, and by who made them."""
    statuses = Table("pool", "members", title="Pool")
    for name, count in status["pool"].items():
        statuses.add_row(name, str(count))
    makers = Table("made by", "admitted", title="Makers")
    for origin, count in status.get("origins", {}).items():
        makers.add_row(origin, str(count))
    return [statuses, makers]


def funnel(status: Status) -> RenderableType:
    """Candidates by the gate that they ended at, in the order in which they meet them."""
    table = Table("ended at", "candidates", title="Funnel")
    order = {gate: place for place, gate in enumerate((*GATES, "admitted"))}
    for gate in sorted(status["funnel"], key=lambda gate: order.get(gate, -1)):
        table.add_row(gate, str(status["funnel"][gate]))
    return table


def passing(status: Status) -> list[RenderableType]:
    """The share of a policy's recent proposals past each gate (`envolve pool funnel` tells it over time), and what they
    earned on average, by parts."""
    writers = {role: past for role, past in status.get("passing", {}).items() if past}
    if not writers:
        return []
    table = Table("past", *writers, title="Recent proposals")
    for stage in next(iter(writers.values())):
        table.add_row(stage, *(f"{past.get(stage, 0.0):.0%}" for past in writers.values()))
    earned = [status.get("earned", {}).get(role, {}) for role in writers]
    for part in next(filter(None, earned), {}):
        table.add_row(f"reward: {part}", *(_number(each.get(part)) for each in earned))
    return [table]


def steps(status: Status) -> RenderableType:
    """The last updates of the run's own policy."""
    columns = (
        "step",
        "success",
        "parsed",
        "loss",
        "grad_norm",
        "ratio_mean",
        "logprob_diff",
        "update_seconds",
    )
    table = Table(*(name.replace("_", " ") for name in columns), title="Last updates")
    for record in status["last_steps"][-STEP_ROWS:]:
        table.add_row(*(_number(record.get(name)) for name in columns))
    return table


def served(status: Status) -> list[RenderableType]:
    """The clients of a run that serves a trainer elsewhere, the last that asked at the end."""
    clients = (status.get("serving") or {}).get("clients", {})
    if not clients:
        return []
    table = Table("client", "questions", "judged", "no verdict", "last seen", title="Served")
    for name, row in clients.items():
        seen = f"{duration(max(0.0, status.get('at', time.time()) - row['seen']))} ago"
        counts = (str(row[key]) for key in ("sampled", "scored", "failed"))
        table.add_row(Text(visible(name)), *counts, seen)
    return [table]


def policies(status: Status) -> list[RenderableType]:
    """The policies of a run that has more than its own."""
    rows = status.get("policies", ())
    if len(rows) < 2:
        return []
    table = Table("policy", "model", "role", "trained", "solvers", "success", "answers", "step", title="Policies")
    for row in rows:
        table.add_row(
            Text(visible(row["name"])), Text(visible(_model(row))), roles(row), "yes" if row.get("trainable") else "no",
            str(row.get("solvers", "-")), _number(row.get("success")), f"{row.get('answers') or 0:.0f}",
            _number(row.get("step")),
        )  # fmt: skip
    return [table]


def roles(row: dict[str, Any]) -> str:
    """What a policy is there for; one that an older run reports solves."""
    return ", ".join(role for role, plays in (("solves", True), ("writes", False)) if row.get(role, plays))


def nodes(status: Status) -> list[RenderableType]:
    """The nodes of a run that has more than one; those that left without actors are not shown."""
    rows = [row for row in status.get("nodes", ()) if row.get("alive", True) or row.get("actors")]
    if len(rows) < 2:
        return []
    table = Table("node", "address", "state", "actors", "replica lag", title="Nodes")
    for row in rows:
        state = _state(row)
        style = "" if state in ("alive", "head") else "red"
        cells = (row["id"][:SHOWN_ID], row.get("address", ""), state, str(row.get("actors", 0)), _lag(row))
        table.add_row(*cells, style=style)
    return [table]


def actors(status: Status) -> RenderableType:
    """A row a kind of actor: for whom they wait, failures, and the sums of their figures."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for name, report in sorted(status["actors"].items()):
        kinds.setdefault(names.parse(name).group, []).append(report)
    table = Table("actor", "waits for", "failures", title="Actors", expand=True)
    table.add_column("figures", no_wrap=True, ratio=1)  # takes what room the others leave
    for kind, reports in kinds.items():
        waits = Counter(report["waiting_for"] for report in reports if report["waiting_for"])
        words = ", ".join(name if len(reports) == 1 else f"{name} ({count})" for name, count in waits.items())
        failures = sum(report["failures"] for report in reports)
        sums: Counter[str] = Counter()
        for report in reports:
            sums.update(report["gauges"])
        figures = ", ".join(f"{key} {value:.5g}" for key, value in list(sums.items())[:SHOWN_FIGURES])
        name = kind if len(reports) == 1 else f"{kind} x {len(reports)}"
        table.add_row(name, words or "-", str(failures), figures, style="red" if failures else "")
    return table


def running(status: Status) -> list[RenderableType]:
    """What the sandboxes ran when they last reported, the longest first, with their queues and speeds."""
    now = status.get("at", time.time())
    jobs = [
        (job["since"], name, job, report["gauges"])
        for name, report in status["actors"].items()
        for job in report.get("running", ())
    ]
    if not jobs:
        return []
    table = Table("program", "mode", "calls", "for", "in", "queue", "runs/s", "p50", "p99", title="Running now")
    for since, name, job, gauges in sorted(jobs, key=lambda each: each[:2])[:SHOWN_JOBS]:
        table.add_row(
            visible(job["program"]), visible(job["mode"]), str(job["calls"]), duration(max(0.0, now - since)),
            f"{name}, zygote {job['replica']}", _number(gauges.get("queue")),
            f"{gauges.get('runs_per_second', 0.0):.0f}", _milliseconds(gauges.get("p50_seconds")),
            _milliseconds(gauges.get("p99_seconds")),
        )  # fmt: skip
    if len(jobs) > SHOWN_JOBS:
        table.caption = f"and {len(jobs) - SHOWN_JOBS} more"
    return [table]


def standing(status: Status) -> list[RenderableType]:
    """Alarms that stand now, with how long for."""
    alarms = status.get("active_alarms", ())
    if not alarms:
        return []
    table = Table(
        "alarm", "for", "what it is, and what to do", title="Standing alarms", title_style="bold red"
    )
    for alarm in alarms:
        seconds = max(0.0, status.get("at", time.time()) - alarm["since"])
        table.add_row(Text(alarm["kind"], "bold red"), duration(seconds), Text(visible(alarm["text"])))
    return [table]


def past(status: Status) -> list[RenderableType]:
    """Alarms of single events, and the first failure of each background loop: its last line says what it was."""
    table = Table("alarm", "what", title="Alarms")
    for alarm in status["alarms"][-SHOWN_ALARMS:]:
        table.add_row(Text(alarm["kind"], "red"), Text(visible(alarm["text"])))
    for name, report in sorted(status["actors"].items()):
        for where, trace in report.get("first_failures", {}).items():
            table.add_row(Text(f"{name}: {where}", "red"), Text(visible(trace.strip().rsplit("\n", 1)[-1])))
    return [table] if table.row_count else []


def duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _model(row: dict[str, Any]) -> str:
    return f"{row['model']} at {row['endpoint']}" if row.get("endpoint") else str(row["model"])


def _state(row: dict[str, Any]) -> str:
    if not row.get("alive", True):
        return "gone"
    if row.get("quarantined"):
        return "quarantined"
    return "head" if row.get("head") else "alive"


def _lag(row: dict[str, Any]) -> str:
    lag = row.get("replica_lag")
    return "-" if lag is None else f"{lag * 1000:.0f} ms"


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1000:.3g} ms"


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)
