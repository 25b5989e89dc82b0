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

SCHEMA = 1
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
)

logger = logging.getLogger(__name__)


class StoreError(RuntimeError):
    """The pool cannot be opened, or an operation on it was refused; nothing of that operation was written."""


class NoPool(StoreError):
    """There is none, or the process that made it was killed before it was one; a writer makes it."""


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Turns what LMDB raises into StoreError."""
    try:
        yield
    except lmdb.MapFullError as error:
        raise StoreError(f"the map of pool {path} is full; open it with a larger map_size") from error
    except lmdb.Error as error:
        raise StoreError(f"pool {path}: {error}") from error


def open_for_writing(path: Path, map_size: int) -> tuple[Any, dict[str, Any]]:
    """Environment and handles of a pool, created if it is not there. Raises StoreError."""
    path.mkdir(parents=True, exist_ok=True)
    with store_errors(path):
        env = lmdb.open(str(path), map_size=map_size, max_dbs=len(DATABASES), max_readers=MAX_READERS)
    try:
        with store_errors(path):
            # A reader that was killed inside a transaction would hold its pages for ever.
            if stale := env.reader_check():
                logger.info("cleared %d dead readers of pool %s", stale, path)
            with env.begin(write=True) as txn:
                dbs = {name: env.open_db(name.encode(), txn=txn) for name in DATABASES}
                if txn.get(b"schema", db=dbs["meta"]) is None:
                    txn.put(b"schema", str(SCHEMA).encode(), db=dbs["meta"])
                _refuse_other_schema(txn.get(b"schema", db=dbs["meta"]), path)
    except StoreError:
        env.close()
        raise
    return env, dbs


def open_for_reading(path: Path) -> tuple[Any, dict[str, Any]]:
    """Environment and handles of an existing pool, read-only. Raises StoreError, NoPool."""
    data = path / "data.mdb"
    if not data.is_file() or not data.stat().st_size:
        raise NoPool(f"there is no pool at {path}")
    with store_errors(path):
        # map_size 0 takes the size that the writer chose, from the file itself.
        env = lmdb.open(str(path), map_size=0, readonly=True, max_dbs=len(DATABASES), max_readers=MAX_READERS)
    try:
        with store_errors(path):
            dbs = {"meta": _opened_meta(env, path)}
            with env.begin() as txn:
                _refuse_other_schema(txn.get(b"schema", db=dbs["meta"]), path)
            dbs |= {name: env.open_db(name.encode(), create=False) for name in DATABASES}
    except StoreError:
        env.close()
        raise
    return env, dbs


def _opened_meta(env: Any, path: Path) -> Any:
    try:
        return env.open_db(b"meta", create=False)
    except lmdb.NotFoundError as error:
        raise NoPool(f"there is no pool at {path}: its making was cut off") from error


def _refuse_other_schema(found: bytes | None, path: Path) -> None:
    if found != str(SCHEMA).encode():
        version = "none" if found is None else found.decode("ascii", "replace")
        raise StoreError(f"pool {path} has schema {version}; this version knows only {SCHEMA}")
