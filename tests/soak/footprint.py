"""What a sandbox takes of the machine at one moment, read from outside, and what may not have grown in between."""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

SETTLE_SECONDS = 30.0
"""A busy machine may keep a zygote, which runs at low priority, from burying for a while."""
LASTING_SECONDS = 0.2
WARM_UP = 0.2
"""Share of a soak before the first comparison: caches fill, and the allocator takes what it will keep."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """After so many jobs. Memory is resident, in KiB."""

    jobs: int
    owner_kib: int
    zygote_kib: int
    owner_descriptors: int  # beyond the two of each open child
    zygote_descriptors: int  # 0 where only root may look
    strays: int  # children beyond those that are open, waiting or process 1
    zombies: int


ROOM = {
    "owner_kib": 4096,
    "zygote_kib": 1024,
    "owner_descriptors": 0,
    "zygote_descriptors": 0,
}
"""How much more the last quarter of a soak may take than the first one after the warm-up."""
NEVER = ("strays", "zombies")


def footprint(jobs: int, zygote: int, opened: int, others: int) -> Footprint:
    """Once only the `opened` children and so many `others` are left of the zygote's, or it has had time enough."""
    kept, end = opened + others, time.monotonic() + SETTLE_SECONDS
    settled = time.monotonic()
    # For a while: one that is not yet gone and the next that is not yet born make the right number, too.
    while time.monotonic() < min(settled + LASTING_SECONDS, end):
        time.sleep(0.005)
        if len(children(zygote)) != kept or zombies(zygote):
            settled = time.monotonic()
    return Footprint(
        jobs=jobs,
        owner_kib=resident_kib(os.getpid()),
        zygote_kib=resident_kib(zygote),
        owner_descriptors=descriptors(os.getpid()) - 2 * opened,
        zygote_descriptors=descriptors(zygote),
        strays=len(children(zygote)) - kept,
        zombies=zombies(zygote),
    )


def grown(taken: Sequence[Footprint]) -> list[str]:
    """What grew over a soak, in words; nothing where all stayed flat."""
    steady = taken[int(len(taken) * WARM_UP) :]
    quarter = max(len(steady) // 4, 1)
    found = []
    for name, room in ROOM.items():
        before, after = (
            statistics.median(getattr(each, name) for each in part)
            for part in (steady[:quarter], steady[-quarter:])
        )
        if after > before + room:
            found.append(
                f"{name} grew from {before:.0f} to {after:.0f} over {steady[-1].jobs - steady[0].jobs} jobs"
            )
    for name in NEVER:
        if most := max(getattr(each, name) for each in taken):
            found.append(f"{name}: {most}")
    return found


def table(taken: Sequence[Footprint]) -> str:
    """The footprints as lines."""
    names = [field.name for field in fields(Footprint)]
    rows = [names, *([str(getattr(each, name)) for name in names] for each in taken)]
    return "\n".join("  ".join(f"{cell:>18}" for cell in row) for row in rows)


def children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def zombies(zygote: int) -> int:
    """Children of the zygote, and its owner's, that are dead and not buried."""
    return sum(map(is_zombie, [*children(os.getpid()), *children(zygote)]))


def is_zombie(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False


def resident_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def descriptors(pid: int) -> int:
    with contextlib.suppress(PermissionError):
        return len(os.listdir(f"/proc/{pid}/fd"))
    return 0
