"""Who is killed next, and how long it takes until the same name answers again.

Invariant: every kill is a SIGKILL of a whole process, chosen by a seeded stream among the kinds that live, each kind
alike; a name counts as back once another process of that name has started and answers.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil

from actors.roster import kind_of
from tests.chaos.nodes import children_of
from tests.runs import kill_all
from tests.simulated.runs import SimulatedRun

ZYGOTE = "zygote"
NODE = "node"
PAIRS = 0.15
"""Share of strokes that hit two."""


@dataclass
class Outage:
    """A name without its process."""

    name: str
    pid: int
    since: float


@dataclass
class Tally:
    """What was killed, and what came back."""

    kills: Counter[str] = field(default_factory=Counter)
    """By kind."""
    recoveries: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    """Of each outage that is over, by kind."""

    @property
    def longest(self) -> tuple[float, str]:
        """Seconds and kind."""
        return max(((max(times), kind) for kind, times in self.seconds.items()), default=(0.0, "none"))


class Killer:
    """Kills, and watches for those that return."""

    def __init__(self, run: SimulatedRun, seed: int, wanted: Callable[[], set[str]]) -> None:
        """`wanted` gives the names that the run has now, but for followers."""
        self.run = run
        self.wanted = wanted
        self.tally = Tally()
        self.away: dict[str, Outage] = {}
        self._rng = random.Random(seed)

    def strike(self) -> list[str]:
        """Kill one, or two at one stroke; their names."""
        pids = self.run.pids()
        if not pids:
            return []
        targets = [self._choose(pids) for _ in range(2 if self._rng.random() < PAIRS else 1)]
        victims = {name: pid for target in targets for name, pid in [target] if pid}
        kill_all([psutil.Process(pid) for pid in victims.values() if psutil.pid_exists(pid)])
        now = time.monotonic()
        for name, pid in victims.items():
            kind = ZYGOTE if name.startswith(f"{ZYGOTE} ") else kind_of(name)
            self.tally.kills[kind] += 1
            if kind != ZYGOTE:
                self.away.setdefault(name, Outage(name, pid, now)).pid = pid
        return sorted(victims)

    def lost_node(self, names: list[str], pids: dict[str, int]) -> None:
        """A node was killed with these actors on it; its follower is of no other node and does not return."""
        now = time.monotonic()
        self.tally.kills[NODE] += 1
        for name in names:
            if kind_of(name) == "follower":
                self.away.pop(name, None)
            else:
                self.away.setdefault(name, Outage(name, pids[name], now)).pid = pids[name]

    def watch(self) -> None:
        """See who is back."""
        if not self.away:
            return
        pids, wanted = self.run.pids(), self.wanted()
        for name, outage in list(self.away.items()):
            if name not in wanted and kind_of(name) != "follower":
                del self.away[name]  # it was scaled away meanwhile
            elif pids.get(name, outage.pid) != outage.pid and self._answers(name):
                del self.away[name]
                kind = kind_of(name)
                self.tally.recoveries[kind] += 1
                self.tally.seconds.setdefault(kind, []).append(time.monotonic() - outage.since)

    def _answers(self, name: str) -> bool:
        beat = self.run.ask(name, "heartbeat", seconds=1.0)
        return bool(beat and beat["started"])

    def _choose(self, pids: dict[str, int]) -> tuple[str, int]:
        by_kind: dict[str, list[str]] = {}
        for name in sorted(pids):
            by_kind.setdefault(kind_of(name), []).append(name)
        kind = self._rng.choice(sorted([*by_kind, ZYGOTE]))
        if kind != ZYGOTE:
            name = self._rng.choice(by_kind[kind])
            return name, pids[name]
        sandbox = self._rng.choice(by_kind.get("sandbox", [""]))
        below = children_of(pids[sandbox]) if sandbox else []
        return (f"{ZYGOTE} of {sandbox}", self._rng.choice(below).pid) if below else ("", 0)
