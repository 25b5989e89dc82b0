"""A node's copy of the pool: a local LMDB that repeats the writer's transactions, for readers on that node.

Invariant: readers find the replica at one moment of the writer's history, whole, whenever this process is killed: a
batch of changes is one transaction, and so is a snapshot, which replaces the content and keeps the file, so that
handles of readers in other processes stay good. Commits are not synced: after a crash of the machine the replica
is thrown away and made anew. Nothing here knows where changes come from.
"""

import logging
import os
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from envpool.store.changes import Operation, Position, Transaction, unpack_operations
from envpool.store.environment import DATABASES, MAP_SIZE, open_as_replica, store_errors
from envpool.store.errors import ReplicaDiverged, StoreError
from envpool.store.locking import REPLICA_LOCK, WRITER_LOCK, alone, lock_out_others
from envpool.store.migration import SCHEMA
from envpool.store.reading import PoolReads
from envpool.store.snapshots import contents

BOOT_FILE = "boot"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
COMMITS_BETWEEN_READER_CHECKS = 512

logger = logging.getLogger(__name__)


class PoolReplica(PoolReads):
    """The one handle that writes a replica; `PoolReader` opens its folder as it does any pool."""

    def __init__(self, path: Path, env: Any, dbs: dict[str, Any], lock: int) -> None:
        super().__init__(path, env, dbs)
        self._lock = lock
        self._commits = 0
        self._turn = threading.RLock()

    @classmethod
    def open(cls, path: str | Path, map_size: int = MAP_SIZE) -> Self:
        """Opens or makes a replica; one that cannot be trusted is emptied and waits for a snapshot.

        Raises StoreError where another process has it, or where the folder holds a writer's pool.
        """
        where = Path(path)
        where.mkdir(parents=True, exist_ok=True)
        if (where / WRITER_LOCK).exists():
            raise StoreError(f"{where} is the pool itself; a replica needs another folder")
        lock = lock_out_others(where, REPLICA_LOCK, "follower")
        try:
            return cls(where, *_trusted(where, map_size), lock)
        except BaseException:
            os.close(lock)
            raise

    def close(self) -> None:
        """Gives the files back, once a batch or snapshot that another thread writes is done. Idempotent."""
        with self._turn:
            super().close()
        if self._lock >= 0 and os.getpid() == self._pid:
            os.close(self._lock)
            self._lock = -1

    def apply(self, transactions: Sequence[Transaction]) -> Position:
        """Repeats what is new among them, in one transaction; where the replica stands then.

        What it has already is left out, so that doubles are harmless. Raises ReplicaDiverged where they do not
        follow what it holds; it is as it was then.
        """
        with self._writing() as txn:
            position = self.position()
            for transaction in transactions:
                if transaction.number <= position.change:
                    continue
                if (transaction.number, transaction.before) != (position.change + 1, position.mark):
                    raise ReplicaDiverged(
                        f"change {transaction.number} does not follow {position.change} of replica {self.path}"
                    )
                self._repeat(txn, unpack_operations(transaction.operations))
                position = transaction.position
        return position

    def restore(self, chunks: Iterable[bytes]) -> Position:
        """Replaces the content by a snapshot's, in one transaction; where the replica stands then.

        Raises StoreError for an incomplete snapshot or one of another schema; the replica is as it was then.
        """
        with self._writing() as txn:
            for db in self._dbs.values():
                txn.drop(db, delete=False)
            for operations in contents(chunks):
                self._repeat(txn, operations)
            if self._fetch("meta", b"schema") != str(SCHEMA).encode():
                raise StoreError(f"a snapshot for replica {self.path} has another schema than {SCHEMA}")
            return self.position()

    def _repeat(self, txn: Any, operations: list[Operation]) -> None:
        for db, key, value in operations:
            if value is None:
                txn.delete(key, db=self._dbs[db])
            else:
                txn.put(key, value, db=self._dbs[db])

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        with self._turn, store_errors(self.path):
            with self._begin(write=True) as txn:
                self._pinned.txn, self._pinned.writes = txn, True
                try:
                    yield txn
                finally:
                    self._pinned.txn, self._pinned.writes = None, False
            self._commits += 1
            if self._commits % COMMITS_BETWEEN_READER_CHECKS == 0:
                self._env.reader_check()


def remove_abandoned(folder: Path) -> list[Path]:
    """Removes the replicas in `folder` that no follower writes and no process reads; nodes that died left them."""
    removed = []
    for lock in folder.glob(f"*/{REPLICA_LOCK}"):
        try:
            follower = lock_out_others(lock.parent, REPLICA_LOCK, "follower")
        except (StoreError, FileNotFoundError):
            continue
        try:
            with alone(lock.parent / "lock.mdb"):
                shutil.rmtree(lock.parent)
                removed.append(lock.parent)
        except (StoreError, OSError) as error:
            logger.info("replica %s stays: %s", lock.parent, error)
        finally:
            os.close(follower)
    return removed


def _trusted(path: Path, map_size: int) -> tuple[Any, dict[str, Any]]:
    """The replica's environment, emptied first where it is of another boot or schema, or damaged."""
    if not _of_this_boot(path):
        _forget(path)
    try:
        env, dbs = open_as_replica(path, map_size)
    except StoreError as error:
        logger.warning("replica %s is made anew: %s", path, error)
        _forget(path)
        env, dbs = open_as_replica(path, map_size)
    if not _is_sound(env, dbs):
        logger.warning("replica %s is made anew: it is of another schema or half written", path)
        env.close()
        _forget(path)
        env, dbs = open_as_replica(path, map_size)
    (path / BOOT_FILE).write_text(_boot_id(), encoding="ascii")
    return env, dbs


def _is_sound(env: Any, dbs: dict[str, Any]) -> bool:
    """Whether it is empty, or has all of the present schema's facts about itself."""
    with env.begin() as txn:
        facts = [txn.get(key, db=dbs["meta"]) for key in (b"schema", b"pool", b"change", b"mark")]
        empty = not any(txn.stat(dbs[name])["entries"] for name in DATABASES)
    return empty or (all(facts) and facts[0] == str(SCHEMA).encode())


def _of_this_boot(path: Path) -> bool:
    if not (path / "data.mdb").exists():
        return True
    try:
        return (path / BOOT_FILE).read_text(encoding="ascii") == _boot_id()
    except (OSError, UnicodeDecodeError):
        return False


def _boot_id() -> str:
    return BOOT_ID.read_text(encoding="ascii").strip()


def _forget(path: Path) -> None:
    for name in ("data.mdb", "lock.mdb", BOOT_FILE):
        (path / name).unlink(missing_ok=True)
