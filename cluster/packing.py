"""Packing groups into rooms: whether a set of groups fits a set of nodes, each group whole on one of them.

Invariant: what `pack` returns is valid, and None means that there is no packing, as long as the search stays within
STATES states (some hundred groups). A GPU that is shared is shared as Ray does it: what is below one GPU lies on one
GPU, never on parts of two. It knows nothing of solvers, learners or Ray.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

FRACTIONS = 10_000
"""Parts of a GPU or CPU that Ray counts in; whole numbers keep sums of fractions exact."""
STATES = 20_000
"""States that the search looks at before it gives up."""


@dataclass(frozen=True, slots=True)
class Group:
    """What has to lie on one node together; `name` is unique in a packing."""

    name: str
    gpus: float
    cpus: float

    @property
    def size(self) -> tuple[int, int]:
        """GPUs and CPUs in parts of FRACTIONS."""
        return round(self.gpus * FRACTIONS), round(self.cpus * FRACTIONS)


@dataclass(frozen=True, slots=True, order=True)
class Room:
    """What is left on a node: whole GPUs, the rest of each GPU that is shared, and CPUs, in parts of FRACTIONS."""

    whole: int
    shared: tuple[int, ...]
    cpus: int
    node: str

    @classmethod
    def of(cls, node: str, gpus: float, cpus: float) -> Room:
        """An empty node."""
        return cls(int(gpus), (), round(cpus * FRACTIONS), node)

    @property
    def state(self) -> tuple[int, tuple[int, ...], int]:
        """Rooms of one state are interchangeable."""
        return self.whole, self.shared, self.cpus

    def after(self, size: tuple[int, int]) -> Iterator[Room]:
        """Each way to take a group in, the tightest first; nothing where it does not fit."""
        gpus, cpus = size
        if cpus > self.cpus:
            return
        rest = replace(self, cpus=self.cpus - cpus)
        if gpus >= FRACTIONS or gpus == 0:
            if gpus % FRACTIONS == 0 and gpus // FRACTIONS <= self.whole:
                yield replace(rest, whole=self.whole - gpus // FRACTIONS)
            return
        for part in sorted(set(self.shared)):
            if part >= gpus:
                others = list(self.shared)
                others.remove(part)
                yield replace(rest, shared=tuple(sorted([*others, part - gpus])))
        if self.whole:
            yield replace(rest, whole=self.whole - 1, shared=tuple(sorted([*self.shared, FRACTIONS - gpus])))


def pack(groups: Sequence[Group], rooms: Sequence[Room]) -> dict[str, str] | None:
    """Group name -> node, or None. Best fit, largest groups first; where that fails, every other way is tried."""
    ordered = sorted(groups, key=lambda group: (group.size, group.name), reverse=True)
    stack: list[tuple[tuple[Room, ...], tuple[str, ...]]] = [(tuple(rooms), ())]
    seen: set[object] = set()
    while stack and len(seen) < STATES:
        left, nodes = stack.pop()
        key = (len(nodes), tuple(sorted(room.state for room in left)))
        if key in seen:
            continue
        seen.add(key)
        if len(nodes) == len(ordered):
            return {group.name: node for group, node in zip(ordered, nodes, strict=True)}
        if _may_fit(ordered[len(nodes) :], left):
            ways = [(after, (*nodes, node)) for node, after in _ways(ordered[len(nodes)], left)]
            stack += reversed(ways)  # the last one in is looked at first
    return None


def _ways(group: Group, rooms: tuple[Room, ...]) -> Iterator[tuple[str, tuple[Room, ...]]]:
    """Each different way to place one group, tightest room first."""
    tried: set[object] = set()
    for index, room in sorted(enumerate(rooms), key=lambda pair: pair[1]):
        if room.state in tried:
            continue
        tried.add(room.state)
        for after in room.after(group.size):
            yield room.node, (*rooms[:index], after, *rooms[index + 1 :])


def _may_fit(groups: Sequence[Group], rooms: tuple[Room, ...]) -> bool:
    """Whether the groups equal to the first would all fit, were they the only ones; exact for the last kind."""
    size = groups[0].size
    wanted = sum(1 for _ in takewhile(lambda group: group.size == size, groups))
    return sum(_capacity(room, size, wanted) for room in rooms) >= wanted


def _capacity(room: Room, size: tuple[int, int], most: int) -> int:
    gpus, cpus = size
    by_cpu = room.cpus // cpus if cpus else most
    if gpus == 0:
        return by_cpu
    if gpus >= FRACTIONS:
        return min(by_cpu, room.whole * FRACTIONS // gpus)
    return min(by_cpu, sum(part // gpus for part in room.shared) + room.whole * (FRACTIONS // gpus))
