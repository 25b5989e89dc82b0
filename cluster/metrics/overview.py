"""What the status says of nodes and policies, put together from what several actors report.

Pure. What nobody has reported yet is left out: before the supervisor's first report there are no nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cluster.metrics import names
from cluster.metrics.sink import Record
from cluster.wanted import Wanted

FOLLOWER = "follower-"
LAG = "lag_ms_p99"


def supervision(reports: Mapping[str, Record]) -> Record:
    """The supervisor's last overview; empty before it."""
    return reports.get("supervisor", {}).get("overview") or {}


def nodes(reports: Mapping[str, Record]) -> list[Record]:
    """A row a node: id, address, whether it is alive, the head, quarantined; its number of actors; its replica's lag
    in seconds, None where it has no replica."""
    return [
        {
            "id": node["id"],
            "address": node.get("address", ""),
            "alive": bool(node.get("alive", True)),
            "head": bool(node.get("head")),
            "quarantined": bool(node.get("quarantined")),
            "actors": _count(node.get("actors")),
            "replica_lag": _lag(reports.get(f"{FOLLOWER}{node['id'][:12]}")),
        }
        for node in supervision(reports).get("nodes", ())
    ]


def restarts(reports: Mapping[str, Record]) -> dict[str, int]:
    """How often each actor died, since the supervisor was made."""
    return {name: int(count) for name, count in (supervision(reports).get("restarts") or {}).items()}


def policies(
    own: Record, wanted: Wanted, success: Mapping[str, Record], state: Callable[[str], Any]
) -> list[Record]:
    """The run's own policy first, then the attached ones: what each is, its solvers, recent success, and progress.

    `own` holds the name and model of the run's own; `state` reads a piece of the run's state by its key.
    """
    specs = [spec.model_dump(mode="json", include=_SHOWN) for spec in wanted.policies]
    rows = [
        {"endpoint": "", "trainable": True, **own, "own": True},
        *({**spec, "own": False} for spec in specs),
    ]
    return [_policy(row, wanted, success, state) for row in rows]


_SHOWN = {"name", "model", "endpoint", "trainable", "solves", "writes"}


def _policy(
    row: Record, wanted: Wanted, success: Mapping[str, Record], state: Callable[[str], Any]
) -> Record:
    name = row["name"]
    prefix = "" if row["own"] else f"{name}."
    rates = success.get("solver" if row["own"] else f"solver {name}", {})
    learns = row["trainable"]
    progress = (state(f"{prefix}progress") or {"step": 0, "version": 0}) if learns else {}
    saved = (state(f"{prefix}checkpoint") or {}).get("step", 0) if learns else None
    return row | {
        "solvers": wanted.counts.get(f"{prefix}solver", 0),
        "success": rates.get("success"),
        "answers": rates.get("answers", 0.0),
        "step": progress.get("step"),
        "version": progress.get("version"),
        "saved": saved,
    }


def role(kind: str, policy: str) -> str:
    """How success is told apart: `solver` and `generator` of the run's own policy, `solver NAME` of an attached one."""
    return f"{kind} {policy}" if policy else kind


def tokens_per_second(reports: Mapping[str, Record]) -> float:
    """Of all solvers of all policies."""
    rates = (
        report.get("gauges", {}).get("tokens_per_second", 0.0)
        for name, report in reports.items()
        if names.parse(name).kind == "solver"
    )
    return float(sum(rates))


def _count(actors: Any) -> int:
    return len(actors) if isinstance(actors, list | tuple) else int(actors or 0)


def _lag(report: Record | None) -> float | None:
    lag = (report or {}).get("gauges", {}).get(LAG)
    return None if lag is None else float(lag) / 1000
