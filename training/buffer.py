"""Groups on their way from solver to learner, by explicit states.

    reserved ── put ──> ready ── take ──> taken ── trained ──> trained ── checkpointed ──> (forgotten)
        │                 │ ^               │                     │
     release     stale, distrusted └ take again ┘     reopen ──> ready
        v                 v
     dropped(reason)   dropped(reason)

A solver asks for a permit, generates a group, puts it; the learner takes exactly `groups_per_step`. Invariants:

- at most `(max_staleness + 1) * groups_per_step` groups are reserved, ready or taken under permits, so what is
  generated can still be trained in time;
- what `take(version)` hands out was begun by a policy at most `max_staleness` versions old, or `offered_staleness`
  where it was offered without a permit, since what a generator wrote waits for its verdict; older is dropped;
- no group of a member that is distrusted when it is put, or when it would be handed out, is trained on;
- a group is trained at most once in the weights that survive: one trained after the checkpoint they fell back to
  waits again, and a batch taken but never trained (its learner died) is handed out again;
- nothing leaves in silence: every drop has a counted reason.

This is the bookkeeping, small enough to be saved at each step; the bodies of groups lie elsewhere, each under its
entry's key, put there before `put` is called and dropped after `gone` named them. So a buffer that was killed knows
from its last save and the keys of the bodies what waits: a body that the save does not know was put since, and is
ready. One learner, one thread. It generates nothing, judges nothing and keeps nothing on disk.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from training.trajectory import Group

REMEMBERED = 10_000
"""How many finished permits and group ids are remembered, so that a repeated call finds out what became of them."""
REMEMBERED_ON_DISK = 1000
DISTRUSTED = "distrusted"
"""Why a group is dropped whose question was put, or judged, by a member that is quarantined."""
_STATE_KEYS = {"entries", "gone", "past", "dropped", "trained", "issued"}


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
    id: str = ""
    """The group's; empty for a permit."""
    stamp: int | None = None
    """The version that it counts as written by, since weights fell back; else its own."""
    group: Group | None = None
    """The body, where it is at hand; that of a trained group is not."""

    @property
    def begun(self) -> int:
        """The oldest version that wrote any of it."""
        assert self.group is not None
        return self.group.version_low if self.stamp is None else self.stamp

    @property
    def waits(self) -> bool:
        """Whether it is there for the learner to take."""
        return self.state is State.READY and self.group is not None


class GroupBuffer:
    """Keys of entries are permits for solver groups, and the group's own id for groups that needed none."""

    def __init__(
        self,
        groups_per_step: int,
        max_staleness: int,
        epoch: str = "",
        distrusted: Callable[[str], bool] = lambda member: False,
        offered_staleness: int | None = None,
    ) -> None:
        """`offered_staleness` is `max_staleness` where it is None."""
        if groups_per_step < 1 or min(max_staleness, offered_staleness or 0) < 0:
            raise BufferError("groups_per_step must be positive and staleness not negative")
        self._size = groups_per_step
        self._max_staleness = max_staleness
        self._offered_staleness = max_staleness if offered_staleness is None else offered_staleness
        self._distrusted = distrusted
        """Whether verdicts on this member's questions are not to be learnt from; asked anew each time."""
        self._entries: dict[str, Entry] = {}
        self._gone: dict[str, None] = {}
        self._past: OrderedDict[str, str] = OrderedDict()
        self._dropped: Counter[str] = Counter()
        self._trained = 0
        self._issued = 0
        self._epoch = epoch
        """Part of a permit's name, so that one of an earlier life of the buffer is not taken for another."""

    @property
    def capacity(self) -> int:
        """Most groups under way."""
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

    def would_keep(self, permit: str, group: Group) -> bool:
        """Whether `put` would make it ready now: its body is to be kept first."""
        entry = self._entries.get(permit)
        reserved = entry is not None and entry.state is State.RESERVED
        return reserved and self._fit(group) and not self._holds(group.id)

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

    def would_take_in(self, group: Group, version: int) -> bool:
        """Whether `offer` would make it ready now: its body is to be kept first."""
        return self._fit(group) and not self._holds(group.id) and not self._full(version)

    def offer(self, group: Group, version: int) -> str:
        """A group that was made without a permit (a generator's). Idempotent by the group's id."""
        if self._holds(group.id):
            known = self._entries.get(group.id)
            return known.state if known is not None else self._past.get(group.id, State.DROPPED)
        if self._full(version):
            return self._drop(group.id, "full")
        return self._accept(group.id, group)

    def keeps(self, key: str) -> bool:
        """Whether there is an entry whose body must not be dropped."""
        entry = self._entries.get(key)
        return entry is not None and entry.state is not State.RESERVED

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
        self._drop_distrusted()
        waiting = sorted((entry.begun, key) for key, entry in self._entries.items() if entry.waits)
        if len(waiting) < self._size:
            return None
        batch = [self._entries[key] for _, key in waiting[: self._size]]
        for entry in batch:
            entry.state = State.TAKEN
        return [_as_begun(entry) for entry in batch]

    def trained(self, ids: Iterable[str], version: int) -> None:
        """These groups are in the weights of `version`. Idempotent."""
        wanted = set(ids)
        for _, entry in self._of(State.TAKEN):
            if entry.id in wanted:
                entry.state, entry.version, entry.group = State.TRAINED, version, None
                self._trained += 1

    def checkpointed(self, version: int) -> None:
        """Weights up to `version` are safe: what was trained into them need not be kept."""
        for key, entry in self._of(State.TRAINED):
            if entry.version <= version:
                self._finish(key, State.TRAINED)

    def reopen(self, since: int, version: int) -> int:
        """Weights fell back to `since` and live on as `version`: what was trained later, or is out, waits again.

        Reopened groups count as begun by `version`: the distance to the weights they fell back to is bounded by the
        checkpoint interval, and the importance ratio corrects for it. Returns how many were reopened; their bodies
        are `missing` and have to be supplied.
        """
        later = [entry for _, entry in self._of(State.TRAINED) if entry.version > since]
        self._trained -= len(later)
        for entry in [*later, *(entry for _, entry in self._of(State.TAKEN))]:
            entry.state, entry.stamp = State.READY, version
        return len(later)

    def missing(self) -> list[str]:
        """Keys of groups that wait, or are out, without their bodies at hand."""
        return [
            key
            for key, entry in self._entries.items()
            if entry.state in (State.READY, State.TAKEN) and entry.group is None
        ]

    def supply(self, key: str, group: Group | None) -> None:
        """The body of a missing group; None: it is lost, and dropped as such."""
        entry = self._entries.get(key)
        if entry is None or entry.group is not None:
            return
        if group is None:
            self._drop(key, "lost")
        else:
            entry.id, entry.group = group.id, group

    def gone(self) -> list[str]:
        """Keys of bodies that nobody needs any more; told until `forgotten`."""
        return list(self._gone)

    def forgotten(self, keys: Iterable[str]) -> None:
        """Those bodies are dropped."""
        for key in keys:
            self._gone.pop(key, None)

    def counts(self) -> dict[str, int]:
        """Entries by state; `trained` and `dropped` count all there ever were, and drops are also told by reason."""
        now = Counter(entry.state for entry in self._entries.values())
        current = {str(state): now[state] for state in (State.RESERVED, State.READY, State.TAKEN)}
        reasons = {f"dropped: {reason}": count for reason, count in sorted(self._dropped.items())}
        return {**current, "trained": self._trained, "dropped": self._dropped.total(), **reasons}

    def state_dict(self) -> dict[str, Any]:
        """All but bodies, and permits that are out: who holds one does not outlive the buffer."""
        entries = {
            key: {"state": str(entry.state), "version": entry.version, "stamp": entry.stamp, "id": entry.id}
            for key, entry in self._entries.items()
            if entry.state is not State.RESERVED
        }
        past = list(self._past.items())[-REMEMBERED_ON_DISK:]
        return {"entries": entries, "gone": self.gone(), "past": past, "dropped": dict(self._dropped),
                "trained": self._trained, "issued": self._issued}  # fmt: skip

    def load_state_dict(self, state: Mapping[str, Any], kept: Iterable[str]) -> None:
        """Go on from `state_dict` and the keys of all bodies that are kept; the bodies are `missing` then.

        Raises BufferError on keys it does not know.
        """
        if unknown := set(state) - _STATE_KEYS:
            raise BufferError(f"unknown keys: {sorted(unknown)}")
        if state:
            self._entries = {
                key: Entry(State(item["state"]), item["version"], id=item["id"], stamp=item["stamp"])
                for key, item in state["entries"].items()
            }
            self._gone = dict.fromkeys(state["gone"])
            self._past = OrderedDict(state["past"])
            self._dropped = Counter(state["dropped"])
            self._trained, self._issued = state["trained"], state["issued"]
        for key in kept:
            if key not in self._entries and key not in self._gone:
                self._entries[key] = Entry(State.READY, 0)  # put after the state was saved

    def _of(self, state: State) -> list[tuple[str, Entry]]:
        return [(key, entry) for key, entry in self._entries.items() if entry.state is state]

    def _holds(self, group_id: str) -> bool:
        return group_id in self._past or any(entry.id == group_id for entry in self._entries.values())

    def _full(self, version: int) -> bool:
        self._drop_stale(version)
        return len(self._of(State.READY)) >= 2 * self.capacity

    def _accept(self, key: str, group: Group) -> str:
        if not group.has_variance:
            return self._drop(key, "no variance", group.id)
        if self._lies(group):
            return self._drop(key, DISTRUSTED, group.id)
        self._entries[key] = Entry(State.READY, group.version_low, id=group.id, group=group)
        return State.READY

    def _fit(self, group: Group) -> bool:
        return group.has_variance and not self._lies(group)

    def _lies(self, group: Group) -> bool:
        """A generator's group is about no member."""
        member = group.recipe.get("member")
        return member is not None and self._distrusted(member)

    def _drop_stale(self, version: int) -> None:
        for key, entry in self._of(State.READY):
            bound = self._offered_staleness if key == entry.id else self._max_staleness
            if entry.waits and version - entry.begun > bound:
                self._drop(key, "stale", entry.id)

    def _drop_distrusted(self) -> None:
        """Before a batch is made up, and no more often: the question costs a look into the pool."""
        for key, entry in self._of(State.READY):
            if entry.group is not None and self._lies(entry.group):
                self._drop(key, DISTRUSTED, entry.id)

    def _drop(self, key: str, reason: str, group_id: str | None = None) -> str:
        self._dropped[reason] += 1
        self._finish(key, State.DROPPED)
        if group_id is not None:
            self._remember(group_id, State.DROPPED)
        return State.DROPPED

    def _finish(self, key: str, state: State) -> None:
        entry = self._entries.pop(key, None)
        self._remember(key, state)
        if entry is not None and entry.state is not State.RESERVED:
            self._gone[key] = None
            if entry.id:
                self._remember(entry.id, state)

    def _remember(self, key: str, state: State) -> None:
        self._past[key] = str(state)
        self._past.move_to_end(key)
        while len(self._past) > REMEMBERED:
            self._past.popitem(last=False)


def _as_begun(entry: Entry) -> Group:
    assert entry.group is not None
    return entry.group if entry.stamp is None else entry.group.restamped(entry.stamp)
