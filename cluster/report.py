"""What a run came to: success before the first update and after the last, and how the pool grew.

Invariant: every figure is read from the run's own folder; nothing is computed from memory of the run.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from cluster.inspect.history import history
from cluster.run_folder import pool_of
from envpool.store import PoolReader
from training.evaluation.paired import PairedGain, paired_gain

SETS = {"training_families": "training families", "held_out_families": "families set apart whole"}


def report(folder: Path) -> RenderableType:
    """Tables of gains and of the pool's growth."""
    with PoolReader.open(pool_of(folder)) as reader:
        return Group(*_gains(reader), _growth(reader))


def counts(folder: Path) -> dict[str, dict[Any, int]]:
    """What the pool holds now, as a status has it: a pool may be added to after its run has written its last status."""
    with PoolReader.open(pool_of(folder)) as reader:
        return {"pool": reader.counts(), "origins": reader.origins(), "funnel": reader.funnel()}


def gains(reader: PoolReader) -> dict[str, dict[str, PairedGain]]:
    """Per set of questions, the paired gain in success and in well-formed answers; empty without evaluations."""
    before, after = reader.state("evaluation:before"), reader.state("evaluation:after")
    if not before or not after:
        return {}
    return {
        kind: {measure: _gain(before[kind], after[kind], measure) for measure in ("success", "parsed")}
        for kind in SETS
        if before.get(kind)
    }


def _gain(before: list[dict[str, Any]], after: list[dict[str, Any]], measure: str) -> PairedGain:
    """Over the questions that have a score both times."""
    pairs = [(b[measure], a[measure]) for b, a in zip(before, after, strict=True)]
    both = [(b, a) for b, a in pairs if b is not None and a is not None]
    return paired_gain([b for b, _ in both], [a for _, a in both])


def _gains(reader: PoolReader) -> list[RenderableType]:
    found = gains(reader)
    if not found:
        return ["no evaluation was asked for"]
    table = Table(
        "held-out questions", "measure", "n", "before", "after", "gain", "95 % interval", title="Evaluation"
    )
    for kind, measures in found.items():
        for measure, gain in measures.items():
            table.add_row(
                SETS[kind], {"success": "success", "parsed": "well-formed"}[measure], str(gain.count),
                f"{gain.before:.3f}", f"{gain.after:.3f}", f"{gain.gain:+.3f}", f"{gain.low:+.3f} to {gain.high:+.3f}",
            )  # fmt: skip
    return [table]


def _growth(reader: PoolReader) -> RenderableType:
    """Members by origin, and how many of them came between the first update and the last."""
    steps = int((reader.state("progress") or {}).get("step", 0))
    admitted, during = Counter[str](), Counter[str]()
    for entry in history(reader):
        if entry.kind == "admit":
            admitted[str(entry.origin)] += 1
            during[str(entry.origin)] += 1 <= entry.step < steps
    table = Table("made by", "admitted", "between first and last update", title=f"Pool after {steps} updates")
    for origin, count in admitted.most_common():
        table.add_row(origin, str(count), str(during[origin]))
    return table
