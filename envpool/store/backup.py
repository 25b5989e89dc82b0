"""Copies of a pool, and pools from copies: backup beside a working writer, restore, compaction.

Invariant: what has a pool's name is a whole pool, whenever the process is killed: a copy is written and synced under
another name first, and takes its place by one rename. Restore and compaction hold the writer's lock and refuse
while any process has the pool open. Nothing is judged but wholeness, by `integrity`.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from envpool.store.apart import check_at
from envpool.store.durable import synced
from envpool.store.environment import store_errors
from envpool.store.errors import NoPool, OlderSchema, StoreError
from envpool.store.locking import WRITER_LOCK, alone, lock_out_others
from envpool.store.reading import PoolReader, PoolReads
from envpool.store.writing import PoolWriter

DATA, LOCK = "data.mdb", "lock.mdb"


@dataclass(frozen=True, slots=True)
class Copy:
    """What a copy of a pool holds."""

    sequence: int
    """Its last journal entry."""
    members: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Compaction:
    """Bytes of the pool's file before and after."""

    before: int
    after: int


def backup(pool: PoolReads, target: Path) -> Copy:
    """Copies the pool's present moment into the folder `target`, which is new or empty, while a writer works.

    The copy is a pool itself. Raises StoreError, also for a target that holds something.
    """
    target = target.absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise StoreError(f"{target} is not empty; a backup needs a new or an empty folder")
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        copy = _copied(pool, partial)
        os.rename(partial, target)  # takes the place of an empty folder, and of no other
        synced(target.parent)
    except OSError as error:
        raise StoreError(f"the backup to {target} failed: {error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return copy


def compact(path: Path) -> Compaction:
    """Gives unused pages of a pool's file back; its limit stays. Raises StoreError for a pool in use or damaged."""
    with _without_writer(path):
        before = (path / DATA).stat().st_size
        with _aside(path) as folder:
            _refuse_damaged(path)
            with PoolReader.open(path) as pool:
                _copied(pool, folder)
                position = pool.position()
            _refuse_damaged(folder)
            with PoolReader.open(folder) as pool:
                if pool.position() != position:
                    raise StoreError(f"the compacted copy of {path} is at another place of its history")
            _take_the_place(folder / DATA, path)
        return Compaction(before, (path / DATA).stat().st_size)


def restore(source: Path, path: Path) -> tuple[Copy, Path | None]:
    """Puts a backup in the place of the pool at `path`; what it holds, and where the old pool, if any, was kept.

    Raises StoreError for a damaged backup, NewerSchema for one too new, or where the pool is in use.
    """
    if not (source / DATA).is_file():
        raise NoPool(f"there is no backup of a pool at {source}")
    path.mkdir(parents=True, exist_ok=True)
    with _without_writer(path), _aside(path) as folder:
        try:
            shutil.copyfile(source / DATA, folder / DATA)
            synced(folder / DATA)
        except OSError as error:
            raise StoreError(f"the backup {source} cannot be copied: {error}") from error
        try:
            _refuse_damaged(folder)
        except OlderSchema:
            PoolWriter.open(folder, map_size=0).close()
            _refuse_damaged(folder)
        with PoolReader.open(folder) as pool:
            copy = _described(pool, (folder / DATA).stat().st_size)
        kept = _kept(path)
        _take_the_place(folder / DATA, path)
    return copy, kept


def _copied(pool: PoolReads, folder: Path) -> Copy:
    with store_errors(pool.path), pool.snapshot():
        pool.copy_into(folder)
        synced(folder / DATA)
        synced(folder)
        return _described(pool, (folder / DATA).stat().st_size)


def _described(pool: PoolReads, size: int) -> Copy:
    with pool.snapshot():
        return Copy(pool.last_sequence(), sum(pool.origins().values()), size)


def _refuse_damaged(path: Path) -> None:
    if found := check_at(path):
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise StoreError(f"pool {path} is damaged: {found[0]}{more}")


@contextmanager
def _without_writer(path: Path) -> Iterator[None]:
    """Keeps writers out for as long. Raises StoreError where there is one."""
    lock = lock_out_others(path, WRITER_LOCK, "writer")
    try:
        yield
    finally:
        os.close(lock)


@contextmanager
def _aside(path: Path) -> Iterator[Path]:
    """A folder on the pool's own file system, gone afterwards, also what a killed process left of it."""
    folder = path / "aside"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _kept(path: Path) -> Path | None:
    """A second name for the pool's file, so that it is kept and yet never missing."""
    if not (path / DATA).exists():
        return None
    kept = path / time.strftime("before-restore-%Y%m%d-%H%M%S")
    number = 1
    while kept.exists():
        number += 1
        kept = kept.with_name(f"{kept.name.partition('_')[0]}_{number}")
    kept.mkdir()
    try:
        os.link(path / DATA, kept / DATA)
    except OSError:  # a file system without hard links
        shutil.copyfile(path / DATA, kept / DATA)
        synced(kept / DATA)
    synced(kept)
    return kept


def _take_the_place(new: Path, path: Path) -> None:
    """One rename makes `new` the pool's file. Raises StoreError where a process has the pool open.

    LMDB's lock file belongs to the old file: a handle that is open would lead the next writer astray, so there must be
    none, and LMDB's own lock keeps others from opening it meanwhile.
    """
    with alone(path / LOCK):
        os.replace(new, path / DATA)
        with suppress(FileNotFoundError):
            (path / LOCK).unlink()
        synced(path)
