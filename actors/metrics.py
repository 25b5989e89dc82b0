"""The metrics actor: the one writer of `metrics.jsonl`, samples and status of a run.

Invariant: every file of numbers in the run folder is written here and nowhere else; lines are appended whole and
`status.json` is replaced whole, so that a reader never sees a half. A lost line is only a lost line: nothing that
a resumed run needs lies here.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter, deque
from pathlib import Path
from typing import Any, TextIO

from actors.base import Actor

STATUS_SECONDS = 1.0
KEPT_ALARMS = 50
KEPT_STEPS = 200


class MetricsActor(Actor):
    """Gathers reports, steps, samples, proposals and alarms."""

    async def start(self) -> None:
        self._folder = self.config.run_folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lines = _opened_at_a_new_line(self._folder / "metrics.jsonl")
        self._started = time.time()
        self._reports: dict[str, dict[str, Any]] = {}
        self._alarms: deque[dict[str, Any]] = deque(maxlen=KEPT_ALARMS)
        self._alarm_counts: Counter[str] = Counter()
        self._steps: deque[dict[str, Any]] = deque(maxlen=KEPT_STEPS)
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self._answered: dict[str, deque[tuple[int, int, int]]] = {}
        self.background("status", self._status_once)

    async def report(self, report: dict[str, Any]) -> None:
        """An actor's own report; the newest is kept."""
        await self.ready()
        self._reports[report["name"]] = report

    async def step(self, record: dict[str, Any], groups: list[str]) -> None:
        """A learner update, and which groups it was made of: their samples become one parquet file."""
        await self.ready()
        record = self._with_success(record, groups)
        self._steps.append(record)
        self._append("step", record)
        rows = [
            row | {"step": record["step"], "trained": True}
            for group in groups
            for row in self._rows.pop(group, [])
        ]
        if rows:
            name = f"version-{record['version']:06d}.parquet"
            await asyncio.to_thread(_write_parquet, self._folder / "samples" / name, rows)

    async def samples(self, rows: list[dict[str, Any]], trainable: bool) -> None:
        """Judged responses of one group; those of a trainable one are kept until its step, if not too many wait."""
        await self.ready()
        if rows:
            if trainable:
                self._rows[rows[0]["group"]] = rows
            while len(self._rows) > 4 * self.config.learner.groups_per_step:
                self._rows.pop(next(iter(self._rows)))
            self._tally("solver", rows)

    async def proposals(self, rows: list[dict[str, Any]]) -> None:
        """A policy's proposals with prompt, parents, gate and reason."""
        await self.ready()
        name = f"proposals-{time.time_ns()}.parquet"
        await asyncio.to_thread(_write_parquet, self._folder / "proposals" / name, rows)
        self._append("proposals", {"gates": Counter(str(row["gate"]) for row in rows), "count": len(rows)})
        self._tally(
            "generator",
            [{"success": row["admitted"], "parsed": row["gate"] not in ("size", "L1")} for row in rows],
        )

    async def event(self, kind: str, record: dict[str, Any]) -> None:
        """Anything else worth a line: an evaluation, a fallback, a restart."""
        await self.ready()
        self._append(kind, record)

    async def alarm(self, kind: str, text: str) -> None:
        """Something an operator should see."""
        await self.ready()
        self._alarm_counts[kind] += 1
        self._alarms.append({"kind": kind, "text": text, "at": time.time()})
        self._append("alarm", {"kind": kind, "text": text})

    async def status(self) -> dict[str, Any]:
        """What the live view shows."""
        await self.ready()
        return self._status()

    async def stop(self) -> None:
        await super().stop()
        _replace(self._folder / "status.json", self._status())
        self._lines.close()

    async def _status_once(self) -> None:
        await self.idle("", STATUS_SECONDS)
        self._reports[self.name] = self.health()
        await asyncio.to_thread(_replace, self._folder / "status.json", self._status())

    def _status(self) -> dict[str, Any]:
        reader = self.pool_reader
        return {
            "run": self.config.run.name,
            "phase": self.phase,
            "draining": self.draining,
            "steps": self.config.run.steps,
            "progress": reader.state("progress") or {"step": 0, "version": 0},
            "checkpoint": reader.state("checkpoint"),
            "pool": reader.counts(),
            "origins": reader.origins(),
            "funnel": reader.funnel(),
            "success": {role: _rates(answers) for role, answers in self._answered.items()},
            "last_steps": list(self._steps)[-20:],
            "actors": self._reports,
            "alarms": list(self._alarms)[-10:],
            "alarm_counts": dict(self._alarm_counts),
            "running_seconds": time.time() - self._started,
            "at": time.time(),
        }

    def _tally(self, role: str, rows: list[dict[str, Any]]) -> None:
        window = self._answered.setdefault(role, deque(maxlen=64))
        window.append(
            (len(rows), sum(bool(row["success"]) for row in rows), sum(bool(row["parsed"]) for row in rows))
        )

    def _with_success(self, record: dict[str, Any], groups: list[str]) -> dict[str, Any]:
        rows = [row for group in groups for row in self._rows.get(group, [])]
        share = (
            {
                name: sum(float(row[name]) for row in rows) / len(rows)
                for name in ("success", "parsed", "shaping")
            }
            if rows
            else {}
        )
        return record | share | {"pool": self.pool_reader.counts()}

    def _append(self, kind: str, record: dict[str, Any]) -> None:
        self._lines.write(json.dumps({"kind": kind, "at": time.time(), **record}, default=str) + "\n")


def _opened_at_a_new_line(path: Path) -> TextIO:
    """For appending; what a killed writer left of its last line ends there."""
    lines = path.open("a", encoding="utf-8", buffering=1)
    if lines.tell() and not path.read_bytes().endswith(b"\n"):
        lines.write("\n")
    return lines


def _rates(answers: deque[tuple[int, int, int]]) -> dict[str, float]:
    total = sum(count for count, _, _ in answers) or 1
    return {
        "success": sum(success for _, success, _ in answers) / total,
        "parsed": sum(parsed for _, _, parsed in answers) / total,
        "answers": float(sum(count for count, _, _ in answers)),
    }


def _replace(path: Path, record: dict[str, Any]) -> None:
    scratch = path.with_suffix(".tmp")
    scratch.write_text(json.dumps(record, default=str), encoding="utf-8")
    os.replace(scratch, path)


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".tmp")
    pq.write_table(pa.Table.from_pylist(rows), scratch)
    os.replace(scratch, path)
