"""Groups on their way from solver to learner, by explicit states.

    reserved ── put ──> ready ── take ──> taken ── trained ──> trained ── checkpointed ──> (forgotten)
        │                 │ ^               │                     │
     release           stale └── take again ┘        reopen ──> ready
        v                 v
     dropped(reason)   dropped(reason)

A solver asks for a permit, generates a group, puts it; the learner takes exactly `groups_per_step`. Invariants:

- at most `(max_staleness + 1) * groups_per_step` groups are reserved, ready or taken under permits, so what is
  generated can still be trained in time;
- what `take(version)` hands out was begun by a policy at most `max_staleness` versions old; older is dropped;
- a group is trained at most once in the weights that survive: one trained after the checkpoint they fell back to
  waits again, and a batch taken but never trained (its learner died) is handed out again;
- nothing leaves in silence: every drop has a counted reason.

One learner, one thread. It generates nothing, judges nothing and keeps nothing on disk.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from training.trajectory import Group

REMEMBERED = 10_000
"""How many finished permits and group ids are remembered, so that a repeated call finds out what became of them."""


class State(StrEnum):
    """Where a group stands."""

    RESERVED = "reserved"
    READY = "ready"
    TAKEN = "taken"
    TRAINED = "trained"
    DROPPED = "dropped"


class BufferError(ValueError):
    """A call that no correct caller makes."""


@dataclass(slots=True)
class Entry:
    """A permit or a group. `version` is the policy it was reserved under, or that trained it."""

    state: State
    version: int
    owner: str = ""
    group: Group | None = None


class GroupBuffer:
    """Keys of entries are permits for solver groups, and the group's own id for groups that needed none."""

    def __init__(self, groups_per_step: int, max_staleness: int, epoch: str = "") -> None:
        if groups_per_step < 1 or max_staleness < 0:
            raise BufferError("groups_per_step must be positive and max_staleness not negative")
        self._size = groups_per_step
        self._max_staleness = max_staleness
        self._entries: dict[str, Entry] = {}
        self._past: OrderedDict[str, str] = OrderedDict()
        self._dropped: Counter[str] = Counter()
        self._trained = 0
        self._issued = 0
        self._epoch = epoch
        """Part of a permit's name, so that one of an earlier life of the buffer is not taken for another."""

    @property
    def capacity(self) -> int:
        """How many groups may be under way at once."""
        return (self._max_staleness + 1) * self._size

    def reserve(self, count: int, version: int, owner: str = "") -> list[str]:
        """Up to `count` permits for groups that policy `version` will begin."""
        self._drop_stale(version)
        under_way = sum(entry.state is not State.TRAINED for entry in self._entries.values())
        permits = []
        for _ in range(min(count, self.capacity - under_way)):
            self._issued += 1
            permits.append(f"permit-{self._epoch}{self._issued:08d}")
            self._entries[permits[-1]] = Entry(State.RESERVED, version, owner)
        return permits

    def put(self, permit: str, group: Group) -> str:
        """Hand in a permit's group; the state it is in now. Idempotent; a permit that was given back drops it."""
        entry = self._entries.get(permit)
        if entry is None:
            return self._past.get(permit) or self._drop(permit, "unknown permit")
        if entry.state is not State.RESERVED:
            return entry.state
        if self._holds(group.id):
            return self._drop(permit, "duplicate")
        return self._accept(permit, group)

    def offer(self, group: Group, version: int) -> str:
        """A group that was made without a permit (a generator's). Idempotent by the group's id."""
        if self._holds(group.id):
            known = self._entries.get(group.id)
            return known.state if known is not None else self._past.get(group.id, State.DROPPED)
        self._drop_stale(version)
        if sum(entry.state is State.READY for entry in self._entries.values()) >= 2 * self.capacity:
            return self._drop(group.id, "full")
        return self._accept(group.id, group)

    def release(self, permit: str, reason: str) -> None:
        """Give a permit back without a group. Idempotent."""
        entry = self._entries.get(permit)
        if entry is not None and entry.state is State.RESERVED:
            self._drop(permit, reason)

    def forget(self, owner: str) -> int:
        """Free the permits of an owner that died; how many there were."""
        lost = [key for key, entry in self._of(State.RESERVED) if entry.owner == owner]
        for key in lost:
            self._drop(key, "owner lost")
        return len(lost)

    def take(self, version: int) -> list[Group] | None:
        """Exactly `groups_per_step` groups for the learner at `version`, oldest first, or None while there are fewer.

        A batch still out is taken back first: the one learner asks again only when it lost it.
        """
        for _, entry in self._of(State.TAKEN):
            entry.state = State.READY
        self._drop_stale(version)
        ready = [
            (entry.group.version_low, key, entry.group) for key, entry in self._of(State.READY) if entry.group
        ]
        if len(ready) < self._size:
            return None
        batch = sorted(ready, key=lambda item: item[:2])[: self._size]
        for _, key, _ in batch:
            self._entries[key].state = State.TAKEN
        return [group for _, _, group in batch]

    def trained(self, ids: Iterable[str], version: int) -> None:
        """These groups are in the weights of `version`. Idempotent."""
        wanted = set(ids)
        for _, entry in self._of(State.TAKEN):
            if entry.group is not None and entry.group.id in wanted:
                entry.state, entry.version = State.TRAINED, version
                self._trained += 1

    def checkpointed(self, version: int) -> None:
        """Weights up to `version` are safe: what was trained into them need not be kept."""
        for key, entry in self._of(State.TRAINED):
            if entry.version <= version:
                self._finish(key, State.TRAINED)

    def reopen(self, since: int, version: int) -> int:
        """Weights fell back to `since` and live on as `version`: what was trained later, or is out, waits again.

        Reopened groups count as begun by `version`: the distance to the weights they fell back to is bounded by the
        checkpoint interval, and the importance ratio corrects for it. Returns how many were reopened.
        """
        later = [entry for _, entry in self._of(State.TRAINED) if entry.version > since]
        self._trained -= len(later)
        for entry in [*later, *(entry for _, entry in self._of(State.TAKEN))]:
            if entry.group is not None:
                entry.state, entry.group = State.READY, entry.group.restamped(version)
        return len(later)

    def counts(self) -> dict[str, int]:
        """Entries by state; `trained` and `dropped` count all there ever were, and drops are also told by reason."""
        now = Counter(entry.state for entry in self._entries.values())
        current = {str(state): now[state] for state in (State.RESERVED, State.READY, State.TAKEN)}
        reasons = {f"dropped: {reason}": count for reason, count in sorted(self._dropped.items())}
        return {**current, "trained": self._trained, "dropped": self._dropped.total(), **reasons}

    def state_dict(self) -> dict[str, Any]:
        """Everything but permits that are out: who holds one does not outlive the buffer."""
        entries = {
            key: {"state": str(entry.state), "version": entry.version, "group": entry.group.to_dict()}
            for key, entry in self._entries.items()
            if entry.group is not None
        }
        return {"entries": entries, "past": list(self._past.items()), "dropped": dict(self._dropped),
                "trained": self._trained, "issued": self._issued}  # fmt: skip

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state_dict`. Raises BufferError on keys it does not know."""
        if unknown := set(state) - {"entries", "past", "dropped", "trained", "issued"}:
            raise BufferError(f"unknown keys: {sorted(unknown)}")
        self._entries = {
            key: Entry(State(item["state"]), item["version"], "", Group.from_dict(item["group"]))
            for key, item in state["entries"].items()
        }
        self._past = OrderedDict(state["past"])
        self._dropped = Counter(state["dropped"])
        self._trained, self._issued = state["trained"], state["issued"]

    def _of(self, state: State) -> list[tuple[str, Entry]]:
        return [(key, entry) for key, entry in self._entries.items() if entry.state is state]

    def _holds(self, group_id: str) -> bool:
        live = any(entry.group is not None and entry.group.id == group_id for entry in self._entries.values())
        return live or group_id in self._past

    def _accept(self, key: str, group: Group) -> str:
        if not group.has_variance:
            return self._drop(key, "no variance", group.id)
        self._entries[key] = Entry(State.READY, group.version_low, "", group)
        return State.READY

    def _drop_stale(self, version: int) -> None:
        for key, entry in self._of(State.READY):
            if entry.group is not None and version - entry.group.version_low > self._max_staleness:
                self._drop(key, "stale", entry.group.id)

    def _drop(self, key: str, reason: str, group_id: str | None = None) -> str:
        self._dropped[reason] += 1
        self._finish(key, State.DROPPED)
        if group_id is not None:
            self._remember(group_id, State.DROPPED)
        return State.DROPPED

    def _finish(self, key: str, state: State) -> None:
        entry = self._entries.pop(key, None)
        self._remember(key, state)
        if entry is not None and entry.group is not None:
            self._remember(entry.group.id, state)

    def _remember(self, key: str, state: State) -> None:
        self._past[key] = str(state)
        self._past.move_to_end(key)
        while len(self._past) > REMEMBERED:
            self._past.popitem(last=False)
