"""What a pool is opened from: the folder of a run, a pool's own (or a backup's) folder, or a snapshot.

Invariant: what comes out is of one moment, whole in memory, and no handle stays open: a writer goes on, a process may
fork, and the same pool may be opened again. Nothing is written, and no program runs.
"""

import os
import threading
from dataclasses import replace
from pathlib import Path

from envpool.curation.standings import lowest_level
from envpool.exchange.provenance import Provenance
from envpool.exchange.snapshot import FILE, Snapshot, read_snapshot
from envpool.members import Composite, Member, Status
from envpool.run_pool import CONFIG_FILE, pool_of
from envpool.store.errors import NoPool
from envpool.store.reading import PoolReader, PoolReads

DATA = "data.mdb"
MAIN = "main"
"""The policy of a pool that names none."""
_one_at_a_time = threading.Lock()  # LMDB opens a file once in a process
# A process that was forked meanwhile could never open the file, nor take the lock: so a fork waits.
os.register_at_fork(
    before=_one_at_a_time.acquire,
    after_in_parent=_one_at_a_time.release,
    after_in_child=_one_at_a_time.release,
)


def read_pool(path: str | Path) -> Snapshot:
    """What lies at the path, as it is now. Raises NoPool where nothing does, StoreError, SnapshotError, OSError."""
    where = _meant(path)
    if (folder := store_at(where)) is not None:
        return _stored(folder, "" if folder == where else where.resolve().name)
    if _is_snapshot(where):
        return read_snapshot(where)
    raise NoPool(
        f"there is no pool at {where}: neither a run's folder ({CONFIG_FILE}) nor a pool's ({DATA}) nor a snapshot "
        f"({FILE}, or a folder that holds one)"
    )


def store_at(path: str | Path) -> Path | None:
    """The pool's own folder that a path means, which may be a run's; None where it is a snapshot, or nothing."""
    where = _meant(path)
    if (where / DATA).is_file():
        return where
    is_run = (where / CONFIG_FILE).is_file() or (where / "pool" / DATA).is_file()
    return pool_of(where) if is_run and not _is_snapshot(where) else None


def snapshot_of(pool: PoolReads, run: str = "") -> Snapshot:
    """The active members of a pool, their parts, and the levels at which its own policy is asked; no embeddings."""
    with pool.snapshot():
        policy = str(pool.state("policy") or MAIN)
        step = int((pool.state("progress") or {}).get("step", 0))
        active = _members(pool, pool.ids(Status.ACTIVE))
        levels = {id: max(pool.level(id, policy), lowest_level(member)) for id, member in active.items()}
        parts = {part for member in active.values() for part in _parts(member)} - active.keys()
        provenance = Provenance(run=run, pool=pool.pool_id(), policy=policy, step=step)
        return Snapshot(active | _members(pool, sorted(parts)), levels, provenance)


def _meant(path: str | Path) -> Path:
    where = Path(path).expanduser()
    return where.parent if where.name == DATA else where


def _is_snapshot(where: Path) -> bool:
    return where.is_file() or (where / FILE).is_file()


def _stored(path: Path, run: str = "") -> Snapshot:
    with _one_at_a_time, PoolReader.open(path) as pool:
        return snapshot_of(pool, run)


def _members(pool: PoolReads, ids: list[str]) -> dict[str, Member]:
    found = (pool.get(id) for id in ids)
    return {member.id: replace(member, embedding=b"") for member in found if member is not None}


def _parts(member: Member) -> tuple[str, ...]:
    return member.material.parts if isinstance(member.material, Composite) else ()
