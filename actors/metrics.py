"""The metrics actor: the one writer of a run's numbers, samples, alarms and status.

Invariant: every file of numbers in the run folder is written here and nowhere else; lines are appended whole and
`status.json` is replaced whole, so that a reader never sees a half. A lost line is only a lost line: nothing that
a resumed run needs lies here. A place that cannot be written is switched off and said in an alarm; whoever handed the
record in never notices.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from actors import roster
from actors.auditing import Alarms
from actors.base import Actor
from cluster import alarms
from cluster.alarms import Alarm
from cluster.metrics import overview
from cluster.metrics.samples import SampleTable
from cluster.metrics.sinks import writer_for
from cluster.metrics.watch import Watch
from envpool.admission.passing import passing
from training.proposals import REWARD_PARTS, UNREADABLE

STATUS_SECONDS = 1.0
GAUGE_TICKS = 5
"""Statuses between two that the sinks get."""
KEPT_ALARMS = 50
KEPT_STEPS = 200
KEPT_PROPOSALS = 128
"""Of a policy, that its shares past each gate and its rewards are of."""
RETIRED_SECONDS = 10.0
"""An actor that is not wanted any more and silent for longer leaves the status."""

Rows = list[dict[str, Any]]


class MetricsActor(Actor):
    """Gathers reports, steps, samples, proposals and alarms."""

    async def start(self) -> None:
        self._folder = self.config.run_folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._started = time.time()
        self._reports: dict[str, dict[str, Any]] = {}
        self._alarms: deque[dict[str, Any]] = deque(maxlen=KEPT_ALARMS)
        self._alarm_counts: Counter[str] = Counter()
        self._standing: list[Alarm] = []
        self._steps: deque[dict[str, Any]] = deque(maxlen=KEPT_STEPS)
        self._answered: dict[str, deque[tuple[int, int, int]]] = {}
        self._proposed: dict[str, deque[dict[str, Any]]] = {}
        """by role: the newest proposals, what of them is counted"""
        self._ticks = 0
        self._off: set[str] = set()
        self._watch = Watch(self._makers())
        self._table = SampleTable(self._folder, 4 * self.config.learner.groups_per_step)
        loop = asyncio.get_running_loop()

        def failed(name: str, trace: str) -> None:
            loop.call_soon_threadsafe(self._sink_failed, name, trace)

        self._writer = writer_for(self.config, failed)
        self.background("status", self._status_once)
        self._findings = Alarms(self, self._distrusted)
        self.background("distrust", self._findings.once)

    async def report(self, report: dict[str, Any]) -> None:
        """An actor's own report; the newest is kept."""
        await self.ready()
        self._keep(report)

    async def step(self, record: dict[str, Any], groups: list[str]) -> None:
        """A learner update, and which groups it was made of: their samples become one parquet file.

        `record["policy"]` names an attached policy; without it, the update is the run's own policy's.
        """
        await self.ready()
        policy = self._owner(record.get("policy"))
        record = self._with_success(_of(policy, record), groups)
        if not policy:
            self._steps.append(record)
        self._watch.step(record, time.time())
        self._writer.step(record)
        await self._write_table(
            "samples", lambda: self._table.trained(groups, record["step"], record["version"], policy)
        )

    async def samples(self, rows: Rows, trainable: bool, policy: str = "") -> None:
        """Judged responses of one group; those of a trainable one are kept until its step, if not too many wait."""
        await self.ready()
        if rows:
            policy = self._owner(policy or rows[0].get("policy"))
            if trainable:
                learners = 1 + sum(spec.trainable for spec in self.wanted.policies)
                self._table.keep(rows, 4 * self.config.learner.groups_per_step * learners)
                await self._write_table("samples", lambda: self._table.save(rows[0]["group"]))
            self._tally(overview.role("solver", policy), rows)
            self._watch.answered(len(rows), time.time())

    async def proposals(self, rows: Rows, policy: str = "") -> None:
        """A policy's proposals of one prompt (`Draft.row`). Idempotent but for the line and the recent rates."""
        await self.ready()
        if rows:
            await self._write_table("proposals", lambda: self._table.proposals(rows))
        policy = self._owner(policy)
        counts = {"gates": Counter(str(row["gate"]) for row in rows), "count": len(rows)}
        self._writer.event("proposals", _of(policy, counts | {"reward": _means(rows)}))
        writer = overview.role("generator", policy)
        proposed = self._proposed.setdefault(writer, deque(maxlen=KEPT_PROPOSALS))
        proposed.extend({key: row[key] for key in ("gate", *REWARD_PARTS)} for row in rows)
        self._tally(
            writer,
            [{"success": row["admitted"], "parsed": row["gate"] not in UNREADABLE} for row in rows],
        )

    async def event(self, kind: str, record: dict[str, Any]) -> None:
        """Anything else worth a line: an evaluation, a fallback, a restart."""
        await self.ready()
        self._writer.event(kind, _of(self._owner(record.get("policy")), record))

    async def alarm(self, kind: str, text: str) -> None:
        """Something an operator should see."""
        await self.ready()
        self._raise(kind, text)

    async def _distrusted(self, text: str, finding: dict[str, Any]) -> None:
        self._raise("audit", text)
        self._writer.event("audit", finding)

    async def status(self) -> dict[str, Any]:
        """What the live view shows."""
        await self.ready()
        return self._status()

    async def stop(self) -> None:
        await super().stop()
        try:
            await self._findings.finish()
            _replace(self._folder / "status.json", self._status())
        finally:
            await asyncio.to_thread(self._writer.close)

    async def _status_once(self) -> None:
        await self.idle("", STATUS_SECONDS)
        self._keep(self.health())
        status = self._status()
        self._judge(status, time.time())
        status["active_alarms"] = [alarm.to_dict() for alarm in self._standing]
        if self._ticks % GAUGE_TICKS == 0:
            self._writer.gauges(status)
        self._ticks += 1
        await asyncio.to_thread(_replace, self._folder / "status.json", status)

    def _keep(self, report: dict[str, Any]) -> None:
        self._reports[report["name"]] = report
        self._watch.report(report, time.time())

    def _judge(self, status: dict[str, Any], now: float) -> None:
        """Alarms that stand now, with a line where one begins and where one ends."""
        wanted = self._wanted_names()
        gone = self._watch.silent_since(now - RETIRED_SECONDS) - wanted
        for name in gone:
            self._reports.pop(name, None)
        self._watch.forget(gone)
        facts = self._watch.facts(status, wanted, now)
        before = {alarm.key: alarm for alarm in self._standing}
        self._standing = alarms.standing(facts, self.config.alarms, now, before.values())
        after = {alarm.key: alarm for alarm in self._standing}
        for alarm in (after[key] for key in after.keys() - before.keys()):
            self._writer.event("alarm_began", _named(alarm) | {"text": alarm.text})
        for alarm in (before[key] for key in before.keys() - after.keys()):
            self._writer.event("alarm_ended", _named(alarm) | {"seconds": now - alarm.since})

    def _status(self) -> dict[str, Any]:
        reader, wanted, served = self.pool_reader, self.wanted, self.config.serve.enabled
        success = {role: _rates(answers) for role, answers in self._answered.items()}
        policy = self.config.policy
        own = {
            "name": policy.name, "model": policy.model, "endpoint": policy.endpoint, "solves": True,
            "writes": self.config.policy_writes, "trainable": not served,
        }  # fmt: skip
        return {
            "run": self.config.run.name,
            "phase": self.phase,
            "draining": self.draining,
            "paused": wanted.paused,
            "wanted": wanted.model_dump(mode="json"),
            "steps": self.config.run.steps,
            "progress": reader.state("progress") or {"step": 0, "version": 0},
            "checkpoint": reader.state("checkpoint"),
            "pool": reader.counts(),
            "origins": reader.origins(),
            "funnel": reader.funnel(),
            "success": success,
            "passing": {role: _past(rows) for role, rows in self._proposed.items()},
            "earned": {role: _means(rows) for role, rows in self._proposed.items()},
            "policies": overview.policies(own, wanted, success, reader.state),
            "serving": self._reports.get("server", {}).get("serving", {}) if served else None,
            "nodes": overview.nodes(self._reports),
            "restarts": overview.restarts(self._reports),
            "last_steps": list(self._steps)[-20:],
            "actors": self._reports,
            "active_alarms": [alarm.to_dict() for alarm in self._standing],
            "alarms": list(self._alarms)[-10:],
            "alarm_counts": dict(self._alarm_counts),
            "running_seconds": time.time() - self._started,
            "at": time.time(),
        }

    def _tally(self, role: str, rows: Rows) -> None:
        window = self._answered.setdefault(role, deque(maxlen=64))
        window.append(
            (len(rows), sum(bool(row["success"]) for row in rows), sum(bool(row["parsed"]) for row in rows))
        )

    def _with_success(self, record: dict[str, Any], groups: list[str]) -> dict[str, Any]:
        rows = self._table.of(groups)
        share = (
            {
                name: sum(float(row[name]) for row in rows) / len(rows)
                for name in ("success", "parsed", "shaping")
            }
            if rows
            else {}
        )
        return record | share | {"pool": self.pool_reader.counts()}

    def _raise(self, kind: str, text: str, trace: str = "") -> None:
        self._alarm_counts[kind] += 1
        self._alarms.append({"kind": kind, "text": text, "at": time.time()})
        self._writer.event("alarm", {"kind": kind, "text": text} | ({"trace": trace} if trace else {}))

    def _sink_failed(self, name: str, trace: str) -> None:
        """Once a sink: it is off from now on."""
        if name in self._off:
            return
        self._off.add(name)
        reason = trace.strip().rsplit("\n", 1)[-1]
        self._watch.sinks_off[name] = reason
        self._note(f"sink {name}", trace)
        self._raise("sink", f"nothing more is written to {name}: {reason}", trace)

    async def _write_table(self, name: str, write: Callable[[], None]) -> None:
        """A parquet file; whoever handed the rows in must not suffer when the disk is full."""
        if name in self._off:
            return
        try:
            await asyncio.to_thread(write)
        except Exception:  # noqa: BLE001 - the sink is switched off and said
            self._sink_failed(name, traceback.format_exc())

    def _owner(self, policy: str | None) -> str:
        """Empty for the run's own policy."""
        return "" if policy in (None, "", self.config.policy.name) else str(policy)

    def _makers(self) -> list[str]:
        """Kinds of actors that should bring members in."""
        config = self.config
        generator = config.generator.enabled or config.grammar.enabled
        return [*(["generator"] if generator else []), *(["composer"] if config.composes else [])]

    def _wanted_names(self) -> set[str]:
        nodes = overview.supervision(self._reports).get("nodes", ())
        followers = {roster.follower(node["id"]).name for node in nodes if node.get("alive", True)}
        return roster.names(self.config, self.wanted) | followers


def _of(policy: str, record: dict[str, Any]) -> dict[str, Any]:
    """The record with the policy's name, or without one for the run's own."""
    rest = {key: value for key, value in record.items() if key != "policy"}
    return rest | {"policy": policy} if policy else rest


def _named(alarm: Alarm) -> dict[str, Any]:
    return {"alarm": alarm.kind, "subject": alarm.subject}


def _rates(answers: deque[tuple[int, int, int]]) -> dict[str, float]:
    total = sum(count for count, _, _ in answers) or 1
    return {
        "success": sum(success for _, success, _ in answers) / total,
        "parsed": sum(parsed for _, _, parsed in answers) / total,
        "answers": float(sum(count for count, _, _ in answers)),
    }


def _means(rows: Collection[dict[str, Any]]) -> dict[str, float]:
    """Of some proposals: each part of the reward, and the total that is trained on."""
    return {part: sum(row[part] for row in rows) / len(rows) for part in REWARD_PARTS} if rows else {}


def _past(rows: Collection[dict[str, Any]]) -> dict[str, float]:
    """The share of proposals past each gate, of all of them."""
    shares = passing(Counter(str(row["gate"]) for row in rows)).of_all
    return {stage: share.rate for stage, share in shares.items() if share.rate is not None}


def _replace(path: Path, status: dict[str, Any]) -> None:
    scratch = path.with_suffix(".tmp")
    scratch.write_text(json.dumps(status, default=str), encoding="utf-8")
    os.replace(scratch, path)
