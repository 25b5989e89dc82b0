"""Records as curves: nested numbers under one name each, as TensorBoard and wandb show them.

Names are `train/loss`, `pool/active`, `success/solver`, `funnel/L1`, `passing/L4`, `earned/quality` (a generator's
reward by its parts), `evaluation/sets/NAME/success`. Text, lists and truth values are no curves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cluster.metrics.overview import role
from cluster.metrics.sink import Record

CURVES = ("evaluation", "calibration")
"""Kinds of events whose numbers are curves."""
SECTIONS = ("train", "pool", "success", "funnel", "passing", "earned", *CURVES)
"""What names begin with."""
_APART = ("pool", "policy")


def flat(record: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """Every number of a record, keys of nested ones joined by a slash."""
    found: dict[str, float] = {}
    for key, value in record.items():
        name = f"{prefix}/{key}" if prefix else str(key)
        if isinstance(value, Mapping):
            found |= flat(value, name)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[name] = float(value)
    return found


def of_step(record: Record, status: Record) -> dict[str, float]:
    """An update's curves, and those of the status that was seen last."""
    own = {key: value for key, value in record.items() if key not in _APART}
    writer = role("generator", policy_of(record))
    written = {name: status.get(name, {}).get(writer, {}) for name in ("passing", "earned")}
    curves = flat(own, "train") | flat({"pool": record.get("pool", {}), **written})
    if record.get("policy"):
        return curves
    rates = {role: rate["success"] for role, rate in status.get("success", {}).items()}
    return curves | flat({"success": rates, "funnel": status.get("funnel", {})})


def policy_of(record: Record) -> str:
    """Empty for the run's own."""
    return str(record.get("policy") or "")
