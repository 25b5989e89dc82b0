"""The programs of other pools, for a run that begins with them.

Invariant: they are text, judged anew by the run that takes them. What one of the pools set apart is set apart, though
another trained on it, and so are its copies and its family, and theirs in turn. Nobody is believed to have our own
programs: what says that it ships with Envolve is judged as a user's, and what does is taken from here (`shipped`).
Neither composites nor anybody's answers come along: a run makes its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from envpool.exchange.opening import read_pool
from envpool.exchange.provenance import SAID, SHIPPED
from envpool.exchange.snapshot import SnapshotError
from envpool.members import Member, MemberError, Origin, Program
from envpool.shipped import Shipped
from envpool.store.errors import StoreError


class NotBrought(LookupError):
    """A folder from which nothing can be brought; the message names it."""


def brought(folders: Iterable[str]) -> list[Shipped]:
    """The programs that may be asked in these pools, each once. Raises NotBrought."""
    members = [member for folder in folders for member in _members(folder)]
    apart = _apart(members)
    found: dict[str, Shipped] = {}
    for member in members:
        if isinstance(member.material, Program) and member.id not in found:
            found[member.id] = _shipped(member, member.material, not apart.isdisjoint(_tasks(member)))
    return list(found.values())


def _apart(members: Sequence[Member]) -> set[tuple[str, str]]:
    """What is known of all that is set apart: each that shares one of these brings its own."""
    left = [set(_tasks(member)) for member in members]
    apart = {task for member in members if member.held_out for task in _tasks(member)}
    while near := [tasks for tasks in left if not tasks.isdisjoint(apart)]:
        apart.update(*near)
        left = [tasks for tasks in left if tasks.isdisjoint(apart)]
    return apart


def _members(folder: str) -> Iterable[Member]:
    try:
        return read_pool(Path(folder).expanduser()).members.values()
    except (StoreError, SnapshotError, MemberError, OSError) as error:
        raise NotBrought(f"{folder}: {error}") from error


def _tasks(member: Member) -> Iterator[tuple[str, str]]:
    """What it is known by: whoever shares one of these asks the same, as the gates see it."""
    family = member.family if member.origin is Origin.IMPORTED else ""
    code = str(member.evidence.get("normal", ""))
    known = ("id", member.id), ("code", code), ("behaviour", member.fingerprint), ("family", family)
    return ((kind, key) for kind, key in known if key)


def _shipped(member: Member, program: Program, held_out: bool) -> Shipped:
    """Of the evidence only what a member says of itself; the rest is found again."""
    facts: dict[str, Any] = {key: member.evidence[key] for key in SAID if key in member.evidence}
    name, packages = member.family or program.name, tuple(member.evidence.get("packages", ()))
    origin = Origin.USER if member.origin in SHIPPED else member.origin
    return Shipped(name, program.source, origin, held_out, facts, packages)
