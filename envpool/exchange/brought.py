"""The programs of other pools, for a run that begins with them.

Invariant: they are text, judged anew by the run that takes them; what was set apart stays so, also its family. Neither
composites nor anybody's answers come along: a run makes its own.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from envpool.exchange.opening import read_pool
from envpool.exchange.provenance import LICENCE
from envpool.exchange.snapshot import SnapshotError
from envpool.members import Member, Program
from envpool.shipped import Shipped
from envpool.store.errors import StoreError

KEPT = (LICENCE, "made_by", "task")
"""Of the evidence: what a member says of itself; the rest is found again."""


class NotBrought(LookupError):
    """A folder from which nothing can be brought; the message names it."""


def brought(folders: Iterable[str]) -> list[Shipped]:
    """The programs that may be asked in these pools, each once. Raises NotBrought."""
    found: dict[str, Shipped] = {}
    for folder in folders:
        try:
            members = read_pool(Path(folder).expanduser()).members.values()
        except (StoreError, SnapshotError, OSError) as error:
            raise NotBrought(f"{folder}: {error}") from error
        for member in members:
            if isinstance(member.material, Program):
                found.setdefault(member.id, _shipped(member, member.material))
    return list(found.values())


def _shipped(member: Member, program: Program) -> Shipped:
    facts: dict[str, Any] = {key: member.evidence[key] for key in KEPT if key in member.evidence}
    name, packages = member.family or program.name, tuple(member.evidence.get("packages", ()))
    return Shipped(name, program.source, member.origin, member.held_out, facts, packages)
