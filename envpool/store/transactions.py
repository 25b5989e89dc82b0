"""The transactions of the pool's one writer: the lock, the turn, durability, numbers, and the log of changes.

Invariants: each call is one durable transaction (several inside `batch()` are one together); a lock on `writer.lock`
keeps every other writer out. A transaction that changed anything but groups has a number, and its operations can be
asked for by `changes`. It knows no record; `writing` does.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from envpool.store import encoding
from envpool.store.changes import (
    ANSWER_BYTES,
    LOG_BYTES,
    MARK_BYTES,
    ChangeLog,
    Changes,
    Operation,
    Position,
    Transaction,
    pack_operations,
)
from envpool.store.environment import MAP_SIZE, open_for_writing, store_errors
from envpool.store.errors import StoreError
from envpool.store.locking import REPLICA_LOCK, WRITER_LOCK, lock_out_others
from envpool.store.reading import PoolReads

COMMITS_BETWEEN_READER_CHECKS = 4096


class Transactions(PoolReads):
    """A write handle that knows no record. Calls from several threads take turns."""

    def __init__(
        self, path: Path, env: Any, dbs: dict[str, Any], lock: int, log_bytes: int = LOG_BYTES
    ) -> None:
        super().__init__(path, env, dbs)
        self._lock = lock
        self._commits = 0
        self._turn = threading.RLock()
        self._operations: list[Operation] = []
        with self.snapshot():
            self.log = ChangeLog(self.position(), self.last_sequence(), log_bytes)

    @classmethod
    def open(cls, path: str | Path, map_size: int = MAP_SIZE, log_bytes: int = LOG_BYTES) -> Self:
        """Opens, makes or migrates a pool; sizes in bytes, a map_size of 0 keeps the file's.

        Raises StoreError, also where a writer is open; NewerSchema, NetworkFileSystem.
        """
        where = Path(path)
        where.mkdir(parents=True, exist_ok=True)
        if (where / REPLICA_LOCK).exists():
            raise StoreError(f"{where} is a replica; only the pool that it repeats is written to")
        lock = lock_out_others(where, WRITER_LOCK, "writer")
        try:
            return cls(where, *open_for_writing(where, map_size), lock, log_bytes)
        except BaseException:
            os.close(lock)
            raise

    def close(self) -> None:
        super().close()
        if self._lock >= 0 and os.getpid() == self._pid:
            os.close(self._lock)
            self._lock = -1

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Makes this thread's calls inside it one transaction: durable together, or none of them."""
        if self._pinned.txn is not None:
            if not self._pinned.writes:
                raise StoreError("a snapshot is being read in this thread; nothing can be written inside it")
            yield
            return
        self._refuse_fork()
        # The turn is kept until the transaction is in the log: numbers there rise as they do on disk.
        with self._turn, store_errors(self.path):
            with self._begin(write=True) as txn:
                self._pinned.txn, self._pinned.writes, self._operations = txn, True, []
                try:
                    yield
                    committing = self._numbered()
                finally:
                    self._pinned.txn, self._pinned.writes, self._operations = None, False, []
            if committing is not None:
                self.log.append(replace(committing, at=time.time()))
            self._commits += 1
            if self._commits % COMMITS_BETWEEN_READER_CHECKS == 0:
                self._env.reader_check()

    def changes(self, after: int, mark: bytes, limit_bytes: int = ANSWER_BYTES) -> Changes | None:
        """The transactions that follow a replica's position; None where it needs a snapshot.

        That is: it is too far behind the log, ahead of the pool, or of another history of it.
        """
        return self.log.since(Position(after, mark), limit_bytes)

    def wait_for_change(self, after: int, timeout: float) -> bool:
        """Waits up to `timeout` seconds for a transaction numbered above `after`; whether there is one."""
        return self.log.wait(after, timeout)

    def _put(self, db: str, key: bytes, value: bytes) -> None:
        self._pinned.txn.put(key, value, db=self._dbs[db])
        if db != "groups":
            self._operations.append((db, key, value))

    def _drop(self, db: str, key: bytes) -> bool:
        found = self._pinned.txn.delete(key, db=self._dbs[db])
        if found and db != "groups":
            self._operations.append((db, key, None))
        return found

    def _numbered(self) -> Transaction | None:
        """The open transaction under its number, which becomes part of it; None where it changed nothing to repeat."""
        if not self._operations:
            return None
        before = self.position()
        after = Position(before.change + 1, os.urandom(MARK_BYTES))
        self._put("meta", b"change", encoding.sequence(after.change))
        self._put("meta", b"mark", after.mark)
        packed = pack_operations(self._operations)
        return Transaction(after.change, before.mark, after.mark, 0.0, self.last_sequence(), packed)
