"""When an actor that died is made again, and which nodes are left alone for a while.

Invariant: an actor that keeps dying is made at ever longer intervals, one that has lived for a while at once; a
node on which many actors died lately gets no new ones until its quarantine is over. Pure bookkeeping: it makes and
kills nothing, and time is given to it.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass

from cluster.sections.operating import SupervisionConfig

STEADY_SECONDS = 60.0
"""An actor that lived for so long starts again at once when it dies."""
WINDOW_SECONDS = 600.0
"""Deaths further back say nothing about a node."""


@dataclass(slots=True)
class _Life:
    made: float = 0.0
    deaths: int = 0
    """in a row, each before the actor was steady"""
    may_start: float = 0.0


class Restarts:
    """Deaths of actors by name and by node; times in seconds of one clock."""

    def __init__(self, settings: SupervisionConfig) -> None:
        self._settings = settings
        self._lives: defaultdict[str, _Life] = defaultdict(_Life)
        self._by_node: defaultdict[str, deque[float]] = defaultdict(deque)
        self._until: dict[str, float] = {}
        self.counts: Counter[str] = Counter()
        """deaths by actor, since the supervisor started"""

    def made(self, name: str, now: float) -> None:
        """An actor was made."""
        self._lives[name].made = now

    def died(self, name: str, node: str, now: float) -> float:
        """An actor is gone that should not be; returns the seconds until it may be made again."""
        life = self._lives[name]
        life.deaths = 1 if now - life.made >= STEADY_SECONDS else life.deaths + 1
        pause = (
            0.0 if life.deaths == 1 else min(2.0 ** (life.deaths - 2), self._settings.longest_pause_seconds)
        )
        life.may_start = now + pause
        self.counts[name] += 1
        self._blame(node, now)
        return pause

    def may_make(self, name: str, now: float) -> bool:
        """Whether its pause is over."""
        return name not in self._lives or now >= self._lives[name].may_start

    def forget(self, name: str) -> None:
        """An actor was retired; a later one of that name starts afresh."""
        self._lives.pop(name, None)

    def quarantined(self, now: float) -> set[str]:
        """Nodes that get no new actors now."""
        self._until = {node: until for node, until in self._until.items() if until > now}
        return set(self._until)

    def _blame(self, node: str, now: float) -> None:
        if not node:
            return
        deaths = self._by_node[node]
        deaths.append(now)
        while deaths and now - deaths[0] > WINDOW_SECONDS:
            deaths.popleft()
        if len(deaths) >= self._settings.node_failures:
            self._until[node] = now + 60 * self._settings.quarantine_minutes
            deaths.clear()
