"""Reading the pool: what a reader in any process can ask, and what the writer can ask too.

Invariant: every answer comes from one committed transaction; inside `snapshot()` all answers come from the
same one. A handle belongs to the process that opened it and is refused after a fork. Nothing here writes.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import lmdb

from envpool.answer_counts import Counts
from envpool.members import Member, Origin, Status
from envpool.store import encoding
from envpool.store.changes import Operation, Position
from envpool.store.encoding import JournalEntry, Rejection, StatusRow
from envpool.store.environment import REPLICATED, open_for_reading, store_errors
from envpool.store.errors import StoreError

ADMITTED_GATE = "admitted"


class _Pinned(threading.local):
    """The transaction that this thread's reads go through; None: a new one for each read."""

    txn: Any = None
    writes: bool = False


class PoolReads:
    """The questions a pool answers. Safe from several threads of the process that opened it."""

    def __init__(self, path: Path, env: Any, dbs: dict[str, Any]) -> None:
        self.path = path
        self._env = env
        self._dbs = dbs
        self._pid = os.getpid()
        self._pinned = _Pinned()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the files back. Idempotent."""
        if os.getpid() == self._pid:
            self._env.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads of this thread inside it see the same moment. Keep it short: it holds old pages."""
        if self._pinned.txn is not None:
            yield
            return
        with store_errors(self.path), self._begin() as txn:
            self._pinned.txn = txn
            try:
                yield
            finally:
                self._pinned.txn = None

    def get(self, identity: str) -> Member | None:
        """The member, if it was ever admitted."""
        raw = self._fetch("members", identity.encode())
        return None if raw is None else encoding.unpack_member(raw)

    def status(self, identity: str) -> Status | None:
        """Where the member or the rejected candidate stands; None: never seen."""
        row = self.status_row(identity)
        return None if row is None else row.status

    def status_row(self, identity: str) -> StatusRow | None:
        """Status, origin and whether it is held out, without reading the record."""
        raw = self._fetch("status", identity.encode())
        return None if raw is None else encoding.unpack_status_row(raw)

    def ids(self, status: Status | None = None, origin: Origin | None = None) -> list[str]:
        """Ids by status and origin; without a status, all that were ever admitted."""
        statuses = [status] if status else [each for each in Status if each is not Status.REJECTED]
        with self.snapshot():
            return [
                identity
                for each in statuses
                for identity in self._suffixes(
                    "by_status", encoding.joined(each, origin, "") if origin else encoding.joined(each, "")
                )
            ]

    def by_signature(self, domain: str, codomain: str | None = None) -> list[str]:
        """Ids of admitted members, in any status, with this domain (and codomain) as text."""
        prefix = encoding.type_key(domain) + (encoding.type_key(codomain) if codomain else b"")
        width = len(encoding.type_key(""))
        return [key[2 * width :].decode() for key, _ in self._rows("by_signature", prefix)]

    def children(self, identity: str) -> list[str]:
        """Ids of members that name this one as a parent or as a part."""
        return self._suffixes("children", encoding.joined(identity, ""))

    def stats(self, identity: str, policy: str) -> dict[int, Counts]:
        """Answer counts by level."""
        rows = self._rows("answers", encoding.policy_key(policy, identity, ""))
        return {encoding.level_of(key[-4:]): encoding.unpack_counts(raw) for key, raw in rows}

    def all_stats(self, policy: str) -> dict[str, dict[int, Counts]]:
        """Answer counts of one policy, by member and level."""
        prefix = encoding.policy_key(policy, "")
        found: dict[str, dict[int, Counts]] = {}
        for key, raw in self._rows("answers", prefix):
            member = key[len(prefix) : -5].decode()
            found.setdefault(member, {})[encoding.level_of(key[-4:])] = encoding.unpack_counts(raw)
        return found

    def level(self, identity: str, policy: str) -> int:
        """The level a policy is at; 0 until one was set."""
        raw = self._fetch("levels", encoding.policy_key(policy, identity))
        return 0 if raw is None else encoding.level_of(raw)

    def journal(self, after: int = 0, limit: int = 1000) -> list[JournalEntry]:
        """Entries with sequence numbers above `after`, in order."""
        with store_errors(self.path), self._reading() as txn, txn.cursor(self._dbs["journal"]) as cursor:
            entries: list[JournalEntry] = []
            if limit > 0 and cursor.set_range(encoding.sequence(after + 1)):
                for key, raw in cursor:
                    entries.append(encoding.unpack_entry(key, raw))
                    if len(entries) == limit:
                        break
            return entries

    def last_sequence(self) -> int:
        """Number of the newest journal entry; 0 for a pool without history."""
        with store_errors(self.path), self._reading() as txn, txn.cursor(self._dbs["journal"]) as cursor:
            return encoding.number(cursor.key()) if cursor.last() else 0

    def rejection(self, identity: str) -> Rejection | None:
        """Why the candidate fell the last time, if it was not admitted since."""
        raw = self._fetch("rejections", identity.encode())
        return None if raw is None else encoding.unpack_rejection(raw)

    def state(self, key: str) -> Any:
        """A piece of the run's own state; None where there is none."""
        raw = self._fetch("state", encoding.state_key(key))
        return None if raw is None else encoding.unpack(raw)

    def group(self, key: str) -> bytes | None:
        """A group of answers as the buffer stored it. Never in a replica."""
        return self._fetch("groups", encoding.group_key(key))

    def group_keys(self, prefix: str = "") -> list[str]:
        """Keys of the groups that begin so, in order, without reading the groups."""
        start = prefix.encode()
        with store_errors(self.path), self._reading() as txn, txn.cursor(self._dbs["groups"]) as cursor:
            found: list[str] = []
            if cursor.set_range(start):
                for key in cursor.iternext(keys=True, values=False):
                    if not key.startswith(start):
                        break
                    found.append(key.decode())
            return found

    def pool_id(self) -> str:
        """The pool's identity, made with it and kept by its copies; empty in a replica without a snapshot."""
        return (self._fetch("meta", b"pool") or b"").decode()

    def position(self) -> Position:
        """Number and mark of the newest transaction; (0, empty) in a replica without a snapshot."""
        with self.snapshot():
            number, mark = self._fetch("meta", b"change"), self._fetch("meta", b"mark")
        return Position(encoding.number(number) if number else 0, mark or b"")

    def rows(self, databases: tuple[str, ...] = REPLICATED) -> Iterator[Operation]:
        """Every key and value as stored, database by database in key order, all of one moment."""
        with store_errors(self.path), self._reading() as txn:
            for name in databases:
                with txn.cursor(self._dbs[name]) as cursor:
                    for key, value in cursor:
                        yield name, key, value

    def copy_into(self, folder: Path) -> None:
        """Writes the pool, compacted, as `data.mdb` into an empty folder: the moment of `snapshot()`, if inside one."""
        with store_errors(self.path), self._reading() as txn:
            self._env.copy(str(folder), compact=True, txn=txn)

    def counts(self) -> dict[Status, int]:
        """How many ids stand where."""
        rows = self._rows("counters", encoding.joined("status", ""))
        found = {Status(key.split(b"\0")[1].decode()): encoding.number(raw) for key, raw in rows}
        return {status: found.get(status, 0) for status in Status}

    def origins(self) -> dict[Origin, int]:
        """How many members were ever admitted, by who made them."""
        return {origin: self.funnel(origin).get(ADMITTED_GATE, 0) for origin in Origin}

    def funnel(self, origin: Origin | None = None) -> dict[str, int]:
        """How many candidates ended at each gate, "admitted" among them, over all origins or for one."""
        found: dict[str, int] = {}
        for key, raw in self._rows("counters", encoding.joined("funnel", "")):
            _, gate, made_by = key.decode().split("\0")
            if origin is None or made_by == origin:
                found[gate] = found.get(gate, 0) + encoding.number(raw)
        return found

    def map_fill(self) -> float:
        """Share of its limit that the file has grown to, which it does when no freed page is left; 0 once closed."""
        try:
            info = self._env.info()
            return (info["last_pgno"] + 1) * self._env.stat()["psize"] / info["map_size"]
        except lmdb.Error:
            return 0.0

    def _begin(self, *, write: bool = False) -> Any:
        self._refuse_fork()
        return self._env.begin(write=write)

    def _refuse_fork(self) -> None:
        if os.getpid() != self._pid:
            raise StoreError("a pool handle does not survive a fork; open the pool anew in this process")

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        if self._pinned.txn is not None:
            yield self._pinned.txn
        else:
            with self._begin() as txn:
                yield txn

    def _fetch(self, db: str, key: bytes) -> bytes | None:
        txn = self._pinned.txn
        try:
            if txn is not None:
                return txn.get(key, db=self._dbs[db])
            with self._begin() as txn:
                return txn.get(key, db=self._dbs[db])
        except lmdb.BadValsizeError:
            return None  # an empty or overlong id names nothing
        except lmdb.Error as error:
            raise StoreError(f"pool {self.path}: {error}") from error

    def _rows(self, db: str, prefix: bytes) -> list[tuple[bytes, bytes]]:
        with store_errors(self.path), self._reading() as txn, txn.cursor(self._dbs[db]) as cursor:
            found: list[tuple[bytes, bytes]] = []
            if cursor.set_range(prefix):
                for key, raw in cursor:
                    if not key.startswith(prefix):
                        break
                    found.append((key, raw))
            return found

    def _suffixes(self, db: str, prefix: bytes) -> list[str]:
        return [key.rsplit(b"\0", 1)[1].decode() for key, _ in self._rows(db, prefix)]


class PoolReader(PoolReads):
    """A read-only handle; any number of processes may hold one while the writer works, one each."""

    def __init__(self, path: Path, env: Any, dbs: dict[str, Any]) -> None:
        super().__init__(path, env, dbs)
        self._inode = os.stat(path / "data.mdb").st_ino

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Raises NoPool where there is none, SchemaError for another schema, NetworkFileSystem."""
        where = Path(path)
        return cls(where, *open_for_reading(where))

    def replaced(self) -> bool:
        """Whether another pool lies at the path now (a restore, a compaction, a replica made anew): open it again."""
        try:
            return os.stat(self.path / "data.mdb").st_ino != self._inode
        except FileNotFoundError:
            return True
