"""One run of chaos: a cluster, a simulated run in it, kills for a time, a quiet end, and what is found afterwards."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ray

from actors import roster
from cluster import wanted
from cluster.config import Config
from envpool.store import NoPool, PoolReader
from tests.chaos.checks import violations
from tests.chaos.evidence import Compared, Evidence, Seen, compare
from tests.chaos.killing import Killer, Tally
from tests.chaos.nodes import Nodes
from tests.chaos.operating import Operator
from tests.simulated.runs import SimulatedRun, simulated

TURN_SECONDS = 0.5
LOOK_SECONDS = 2.0
ORDER_SECONDS = 15.0
NODE_AT, NODE_BACK_AT = 0.4, 0.5
"""Shares of the time at which a node is killed, and joins again."""
ATTACH_AT = 0.15
DAWN_PAUSES, DAWN_SECONDS = 3, 600.0
QUIET_SECONDS = 180.0
SECOND = "second"


@dataclass(frozen=True)
class Plan:
    """What is to be done."""

    seconds: float
    every: float
    nodes: int
    seed: int
    folder: Path
    attach: bool = True
    """Whether a second policy that learns joins the run."""


@dataclass
class Outcome:
    """What came of it."""

    config: Config
    seen: Seen
    tally: Tally = field(default_factory=Tally)
    violations: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)


class Chaos:
    """The steps of a plan, in order; `say` gets a line now and then."""

    def __init__(self, plan: Plan, say: Callable[[str], None] = print) -> None:
        self.plan, self.say = plan, say
        self.config = simulated(
            f"chaos-{plan.seed}-{time.time_ns():x}", plan.folder,
            {"run": {"seed": plan.seed}, "sandbox": {"count": plan.nodes},
             "pool": {"replica_folder": str(plan.folder / "replicas")}},
        )  # fmt: skip
        self.seen = Seen()
        self._rng = random.Random(f"{plan.seed}:nodes")
        self._began = 0.0

    def execute(self) -> Outcome:
        """Everything; the cluster is gone afterwards."""
        nodes = Nodes(self.plan.nodes)
        try:
            run = SimulatedRun(self.config)
            killer = Killer(run, self.plan.seed, self._wanted)
            operator = Operator(run, self.plan.seed, self.plan.nodes)
            run.begin(300)
            self.pool = PoolReader.open(self.config.pool_folder)
            self._dawn(run, killer)
            self._storm(run, killer, nodes, operator)
            operator.finish()
            self.seen.counts = operator.possible
            self._calm(run, killer)
            self._compare_replicas(run)
            self.say("stopping")
            run.stop(seconds=QUIET_SECONDS)
            self._look()
        finally:
            nodes.close()
        self.pool.close()  # a process has a pool open once
        return self._judged(killer.tally)

    def _dawn(self, run: SimulatedRun, killer: Killer) -> None:
        """The shipped programs pass their gates, under fewer kills, or it would take all of the time."""
        self._began = strike = time.monotonic()

        def training() -> bool:
            nonlocal strike
            if (now := time.monotonic()) - strike > self.plan.every * DAWN_PAUSES:
                strike = now
                killer.strike()
            killer.watch()
            self._look()
            return self.pool.state("phase") == "training"

        run.until(training, DAWN_SECONDS)
        self.say(
            f"training begins with {len(self.seen.ids)} members, {killer.tally.kills.total()} kills before"
        )

    def _storm(self, run: SimulatedRun, killer: Killer, nodes: Nodes, operator: Operator) -> None:
        self._began = time.monotonic()
        strike = look = minute = order = 0.0
        events = [(ATTACH_AT, self._attach), (NODE_AT, self._lose_node), (NODE_BACK_AT, self._join_node)]
        while (elapsed := time.monotonic() - self._began) < self.plan.seconds:
            if events and elapsed >= events[0][0] * self.plan.seconds:
                events.pop(0)[1](run, killer, nodes)
            if elapsed >= strike:
                strike = elapsed + self.plan.every
                killer.strike()
            if elapsed >= look:
                look = elapsed + LOOK_SECONDS
                self._look()
            if elapsed >= order:
                order = elapsed + ORDER_SECONDS
                operator.order()
            if elapsed >= minute:
                minute += 60
                self._progress(killer)
            killer.watch()
            time.sleep(TURN_SECONDS)

    def _attach(self, run: SimulatedRun, killer: Killer, nodes: Nodes) -> None:
        if self.plan.attach:
            spec = {"name": SECOND, "model": self.config.policy.model, "trainable": True}
            run.until(lambda: run.ask("supervisor", "attach", spec), QUIET_SECONDS)
            self.say(f"policy {SECOND} joins")

    def _lose_node(self, run: SimulatedRun, killer: Killer, nodes: Nodes) -> None:
        node = self._rng.choice(nodes.others)
        rows = run.rows()
        load = Counter(row["Address"]["NodeID"][:12] for row in rows.values() if row["State"] == "ALIVE")
        self.say(f"actors by node: {dict(load)}")
        names = [name for name, row in rows.items() if row["Address"]["NodeID"] == node.node_id]
        killer.lost_node(names, {name: rows[name]["Pid"] for name in names})
        self.say(f"node {nodes.lose(node)[:12]} is killed with {', '.join(sorted(names))}")

    def _join_node(self, run: SimulatedRun, killer: Killer, nodes: Nodes) -> None:
        self.say(f"node {nodes.join()[:12]} joins")

    def _wanted(self) -> set[str]:
        return roster.names(self.config, wanted.kept(self.pool.state(wanted.KEY), self.config))

    def _look(self) -> None:
        if self.pool.replaced():
            self.pool = PoolReader.open(self.config.pool_folder)
        if not self.seen.shipped and self.pool.state("phase") == "training":
            self.seen.shipped = len(self.pool.ids())
        self.seen.look(self.pool, self.config)

    def _calm(self, run: SimulatedRun, killer: Killer) -> None:
        """No kills any more: everybody returns, and every learner goes on."""
        self.say("no more kills")
        start = self._steps()

        def all_is_well() -> bool:
            self._look()
            killer.watch()
            now = self._steps()
            return not killer.away and all(now[name] >= start.get(name, 0) + 3 for name in now)

        run.until(all_is_well, QUIET_SECONDS)

    def _compare_replicas(self, run: SimulatedRun) -> None:
        """Nobody makes anything new, so that replicas catch up with a pool that rests."""
        run.until(
            lambda: run.ask("supervisor", "pause") is None and run.status().get("paused"), QUIET_SECONDS
        )
        deadline = time.monotonic() + QUIET_SECONDS
        home = ray.get_runtime_context().get_node_id()
        for node in ray.nodes():
            if not node["Alive"] or node["NodeID"] == home:
                continue
            found, folder = None, self.config.replica_folder(node["NodeID"])
            while found is None and time.monotonic() < deadline:
                found = self._compared(node["NodeID"][:12], folder)
            late = Compared(node["NodeID"][:12], 0, "it never caught up")
            self.seen.replicas.append(found or late)

    def _compared(self, node: str, folder: Path) -> Compared | None:
        try:
            found = compare(node, folder, self.pool)
        except NoPool:
            found = None
        if found is None:
            time.sleep(0.1)
        return found

    def _steps(self) -> dict[str, int]:
        keys = ["progress", *([f"{SECOND}.progress"] if self.plan.attach else [])]
        return {key: int((self.pool.state(key) or {"step": 0})["step"]) for key in keys}

    def _progress(self, killer: Killer) -> None:
        longest, kind = killer.tally.longest
        minutes = (time.monotonic() - self._began) / 60
        self.say(
            f"{minutes:5.1f} min: {self.pool.state('phase')}, steps {self._steps()}, "
            f"{len(self.seen.ids)} members, {killer.tally.kills.total()} kills, "
            f"{killer.tally.recoveries.total()} back, away {sorted(killer.away)}, longest {longest:.0f} s ({kind})"
        )

    def _judged(self, tally: Tally) -> Outcome:
        evidence = Evidence(self.config, self.seen)
        learnt = evidence.learners()
        counted = [row for entry in evidence.journal for row in entry.evidence.get("counts", ())]
        figures: dict[str, Any] = {
            "updates that survive": sum(len(each.updates) for each in learnt),
            "groups that survive": sum(len(each.trained) for each in learnt),
            "updates made": len(evidence.lines("update")),
            "groups accepted": sum(line["state"] != "dropped" for line in evidence.lines("put")),
            "answers counted": sum(row[3] for row in counted),
            "infrastructure failures counted apart": sum(row[6] for row in counted),
            "admissions": sum(entry.kind == "admit" for entry in evidence.journal),
            "journal entries": evidence.pool.last_sequence(),
            "replicas compared": len(self.seen.replicas),
        }
        return Outcome(self.config, self.seen, tally, violations(evidence), figures)
