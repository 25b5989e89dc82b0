"""The LMDB environment under the pool: its named databases, its schema version, the one error that leaves it.

Invariant: a pool's databases and its schema version are created in one transaction, so a reader finds either
a whole pool or none. It knows no record; `encoding` does. LMDB must not lie on a network file system.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lmdb

from envpool.store import migration
from envpool.store.errors import NoPool, StoreError
from envpool.store.file_system import refuse_shared
from envpool.store.migration import SCHEMA

__all__ = [
    "DATABASES",
    "MAP_SIZE",
    "REPLICATED",
    "SCHEMA",
    "NoPool",
    "StoreError",
    "open_as_replica",
    "open_for_reading",
    "open_for_writing",
    "store_errors",
    "stored_schema",
]

MAP_SIZE = 64 << 30
"""Bytes of address space. The file is sparse and grows with its content, so one large map costs nothing."""
MAX_READERS = 1022

DATABASES = (
    "meta",
    "members",
    "status",
    "by_status",
    "by_signature",
    "children",
    "answers",
    "levels",
    "journal",
    "rejections",
    "counters",
    "state",
    "groups",
)
REPLICATED = tuple(name for name in DATABASES if name != "groups")
"""What replicas hold: groups are heavy, and only the buffer beside the writer reads them."""

logger = logging.getLogger(__name__)


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turns what LMDB raises into StoreError."""
    try:
        yield
    except lmdb.MapFullError as error:
        raise StoreError(
            f"the map of pool {path} is full; open it with a larger one (of a run: pool.map_size_gib)"
        ) from error
    except lmdb.Error as error:
        raise StoreError(f"pool {path}: {error}") from error


def open_for_writing(path: Path, map_size: int) -> tuple[Any, dict[str, Any]]:
    """Environment and handles of a pool, made or migrated where need be; a map_size of 0 keeps the file's.

    Raises StoreError, NetworkFileSystem, NewerSchema.
    """
    path.mkdir(parents=True, exist_ok=True)
    refuse_shared(path)
    with store_errors(path):
        env = lmdb.open(str(path), map_size=map_size, max_dbs=len(DATABASES), max_readers=MAX_READERS)
    try:
        with store_errors(path):
            # A reader that was killed inside a transaction would hold its pages for ever.
            if stale := env.reader_check():
                logger.info("cleared %d dead readers of pool %s", stale, path)
            version = _version(env, path)
            if version is not None and version < SCHEMA:
                migration.keep_copy(env, path, version)
            with env.begin(write=True) as txn:
                dbs = {name: env.open_db(name.encode(), txn=txn) for name in DATABASES}
                if version != SCHEMA:
                    migration.migrate(txn, dbs["meta"], version or migration.FIRST_SCHEMA)
    except BaseException:
        env.close()
        raise
    return env, dbs


def open_as_replica(path: Path, map_size: int) -> tuple[Any, dict[str, Any]]:
    """Environment and handles for a replica: it may lose its newest commits with the machine, not with a process.

    It holds nothing, not even a schema, until the first snapshot. Raises StoreError, NetworkFileSystem.
    """
    refuse_shared(path)
    with store_errors(path):
        env = lmdb.open(
            str(path), map_size=map_size, max_dbs=len(DATABASES), max_readers=MAX_READERS, sync=False
        )
    try:
        with store_errors(path):
            env.reader_check()
            with env.begin(write=True) as txn:
                dbs = {name: env.open_db(name.encode(), txn=txn) for name in DATABASES}
    except BaseException:
        env.close()
        raise
    return env, dbs


def stored_schema(path: Path) -> int | None:
    """The schema that a pool has, read or not by this version; None where there is no pool. Raises NewerSchema."""
    if not (path / "data.mdb").is_file():
        return None
    refuse_shared(path)
    with (
        store_errors(path),
        lmdb.open(str(path), map_size=0, readonly=True, max_dbs=1, max_readers=MAX_READERS) as env,
    ):
        return _version(env, path)


def open_for_reading(path: Path) -> tuple[Any, dict[str, Any]]:
    """Environment and handles of an existing pool, read-only. Raises StoreError, NoPool, SchemaError."""
    data = path / "data.mdb"
    if not data.is_file() or not data.stat().st_size:
        raise NoPool(f"there is no pool at {path}")
    refuse_shared(path)
    with store_errors(path):
        # map_size 0 takes the size that the writer chose, from the file itself.
        env = lmdb.open(str(path), map_size=0, readonly=True, max_dbs=len(DATABASES), max_readers=MAX_READERS)
    try:
        with store_errors(path):
            version = _version(env, path)
            if version is None:
                raise NoPool(
                    f"there is no pool at {path}: its making was cut off, or its first snapshot is due"
                )
            migration.refuse_older(version, path)
            dbs = {name: env.open_db(name.encode(), create=False) for name in DATABASES}
    except BaseException:
        env.close()
        raise
    return env, dbs


def _version(env: Any, path: Path) -> int | None:
    """The schema of an open environment; None for one that holds no pool. Raises StoreError, NewerSchema."""
    try:
        meta = env.open_db(b"meta", create=False)
    except lmdb.NotFoundError:
        return None
    with env.begin() as txn:
        raw = txn.get(b"schema", db=meta)
    return None if raw is None else migration.version_of(raw, path)
