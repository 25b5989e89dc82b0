"""Where what leaves a pool comes from, and under which licence it may be used.

Invariant: nothing is claimed that nobody said. What ships with Envolve has its licence; a member that was imported
says its own in its evidence; for all else whoever exports says it, and without that it is `NOASSERTION` (SPDX).
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Self

from envpool.members import Composite, Member, Origin

OURS = "Apache-2.0"
UNSAID = "NOASSERTION"
LICENCE = "licence"
"""In a member's evidence: the licence of its source, an SPDX expression."""
MADE_BY, TASK = "made_by", "task"
"""In an imported member's evidence: the collection, with its version where it has one, and its name for the task."""
SAID = (LICENCE, MADE_BY, TASK)
"""What a member says of itself, wherever it is taken."""
SHIPPED = frozenset({Origin.SEED, Origin.BRICK, Origin.GRAMMAR})
"""Made of what ships with Envolve."""


def envolve_version() -> str:
    """The installed version; "unknown" where Envolve is imported without being installed."""
    try:
        return version("envolve")
    except PackageNotFoundError:
        return "unknown"


def now() -> str:
    """The present moment as ISO 8601, in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Of a pool that was taken out of a run."""

    run: str = ""
    """The run's name; empty where the pool belongs to none."""
    pool: str = ""
    """The pool's identity, as the store made it."""
    policy: str = ""
    """Whose levels these are."""
    step: int = 0
    """How far the run was."""
    licence: str = UNSAID
    """Of the members that say none of their own: an SPDX expression."""
    envolve: str = field(default_factory=envolve_version)
    created: str = field(default_factory=now)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote; what a later version added is passed over."""
        return cls(**{each.name: data[each.name] for each in fields(cls) if each.name in data})


def licence_of(member: Member, lookup: Callable[[str], Member], unsaid: str = UNSAID) -> str:
    """The licence of a member as an SPDX expression; of a composite, those of its parts joined by AND."""
    if isinstance(member.material, Composite):
        parts = {licence_of(lookup(part), lookup, unsaid) for part in member.material.parts}
        return " AND ".join(sorted(parts))
    if said := member.evidence.get(LICENCE):
        return str(said)
    return OURS if member.origin in SHIPPED else unsaid


def lineage_of(member: Member) -> dict[str, Any]:
    """Who made a member, out of what."""
    parts = member.material.parts if isinstance(member.material, Composite) else ()
    return {"origin": str(member.origin), "parents": list(member.parents), "parts": list(parts)}
