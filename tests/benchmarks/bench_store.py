"""Store against SQLite (WAL, synchronous=FULL), with the same records, indexes, counters and journal on both sides.

Both sides keep each member as msgpack, find it by status, signature and parent, count status and gate, and write
one journal entry an admission. Each figure is taken in rounds that alternate between the sides, best round of
each; the ratio is of those. The disk is the one that holds the temporary folder.
"""

import random
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from pathlib import Path

from envpool.members import Member, Origin, Program, Status
from envpool.store import PoolWriter
from envpool.store.encoding import JournalEntry, pack_entry, pack_member, unpack_member
from envpool.store.group_commit import GroupCommit

MEMBERS = 4000
READS = 20_000
PRODUCERS = 4
BATCHES = 30
BATCH = 16
SINGLES = 400
ROUNDS = 3

SCHEMA = """
CREATE TABLE members(id TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE status(id TEXT PRIMARY KEY, status TEXT, origin TEXT, held_out INTEGER) WITHOUT ROWID;
CREATE INDEX by_status ON status(status, origin, id);
CREATE TABLE signatures(domain TEXT, codomain TEXT, id TEXT, PRIMARY KEY(domain, codomain, id)) WITHOUT ROWID;
CREATE TABLE children(parent TEXT, id TEXT, PRIMARY KEY(parent, id)) WITHOUT ROWID;
CREATE TABLE rejections(id TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE counters(name TEXT PRIMARY KEY, n INTEGER) WITHOUT ROWID;
CREATE TABLE journal(seq INTEGER PRIMARY KEY, entry BLOB NOT NULL);
"""


class SqlitePool:
    """What PoolWriter.admit and get do, in SQL. Calls from several threads take turns."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("PRAGMA mmap_size=1073741824")
        self._db.executescript(SCHEMA)
        self._turn = threading.Lock()

    def admit_all(self, members: Iterable[Member]) -> None:
        """One durable transaction."""
        with self._turn:
            self._db.execute("BEGIN IMMEDIATE")
            for member in members:
                self._admit(member)
            self._db.execute("COMMIT")

    def _admit(self, member: Member) -> None:
        run, identity = self._db.execute, member.id
        if run("SELECT status FROM status WHERE id=?", (identity,)).fetchone() is not None:
            return
        run("INSERT INTO members VALUES(?,?)", (identity, pack_member(member)))
        run("INSERT INTO status VALUES(?,?,?,?)", (identity, "active", member.origin.value, member.held_out))
        material = member.material
        run("INSERT INTO signatures VALUES(?,?,?)", (material.domain, material.codomain, identity))
        run("DELETE FROM rejections WHERE id=?", (identity,))
        for name in ("status active", f"funnel admitted {member.origin}"):
            run("INSERT INTO counters VALUES(?,1) ON CONFLICT(name) DO UPDATE SET n=n+1", (name,))
        entry = JournalEntry(0, time.time(), 0, "admit", identity, member.origin, "", Status.ACTIVE)
        run("INSERT INTO journal(entry) VALUES(?)", (pack_entry(entry),))

    def get(self, identity: str) -> Member:
        """The decoded member."""
        (raw,) = self._db.execute("SELECT record FROM members WHERE id=?", (identity,)).fetchone()
        return unpack_member(raw)

    def get_raw(self, identity: str) -> bytes:
        """The record as it lies on disk."""
        return self._db.execute("SELECT record FROM members WHERE id=?", (identity,)).fetchone()[0]

    def close(self) -> None:
        self._db.close()


class SqliteGroups:
    """The same grouped commits as `GroupCommit`, over SQLite: what is waiting becomes one transaction."""

    def __init__(self, pool: SqlitePool) -> None:
        self._pool = pool
        self._ready = threading.Condition()
        self._waiting: list[tuple[list[Member], Future[None]]] = []
        self._open = True
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def submit(self, members: list[Member]) -> "Future[None]":
        future: Future[None] = Future()
        with self._ready:
            self._waiting.append((members, future))
            self._ready.notify()
        return future

    def close(self) -> None:
        with self._ready:
            self._open = False
            self._ready.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._waiting or not self._open)
                group, self._waiting = self._waiting, []
            if not group:
                return
            self._pool.admit_all(member for members, _ in group for member in members)
            for _, future in group:
                future.set_result(None)


def members(label: str, n: int) -> list[Member]:
    """Programs of about the size that generation writes: 1.5 KB of source, 1.5 KB of embedding."""
    body = "        return [value * 2 for value in x if value > 3]\n" * 25
    domains = ("int", "str", "list[int]", "list[str]", "tuple[int, int]")
    noise = random.Random(label)
    return [
        Member(
            Program(
                f"class M{label}{i}(Environment):\n{body}",
                f"M{label}{i}",
                "Double.",
                noise.choice(domains),
                "int",
            ),
            Origin.GRAMMAR,
            embedding=noise.randbytes(1536),
            evidence={"guess": 0.1, "seconds": 0.02},
        )
        for i in range(n)
    ]


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def produce(submit: Callable[[list[Member]], "Future[object]"], batches: list[list[Member]]) -> None:
    """Producers that each wait until a batch is durable before they give the next."""

    def producer(mine: list[list[Member]]) -> None:
        for batch in mine:
            submit(batch).result()

    threads = [threading.Thread(target=producer, args=(batches[k::PRODUCERS],)) for k in range(PRODUCERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def admit_batch(pool: PoolWriter, batch: list[Member]) -> None:
    for member in batch:
        pool.admit(member)


def measure_reads(ours: PoolWriter, theirs: SqlitePool) -> dict[str, tuple[float, float]]:
    """Reads a second at random ids: whole members, and records as bytes (what the databases themselves do)."""
    known = members("read", MEMBERS)
    with ours.batch():
        admit_batch(ours, known)
    theirs.admit_all(known)
    noise = random.Random(1)
    ids = [noise.choice(known).id for _ in range(READS)]
    raw = ours._fetch
    keys = [identity.encode() for identity in ids]
    sides: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "random reads, decoded": (
            lambda: [ours.get(identity) for identity in ids],
            lambda: [theirs.get(identity) for identity in ids],
        ),
        "random reads, as bytes": (
            lambda: [raw("members", key) for key in keys],
            lambda: [theirs.get_raw(identity) for identity in ids],
        ),
    }
    return {name: best(READS, *each) for name, each in sides.items()}


def best(n: int, ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Operations a second of each side, in alternating rounds."""
    times = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    return n / min(a for a, _ in times), n / min(b for _, b in times)


def measure_admissions(ours: PoolWriter, theirs: SqlitePool) -> dict[str, tuple[float, float]]:
    """Durable admissions a second: grouped over producers, a transaction a batch, and one by one."""
    times: dict[str, list[tuple[float, float]]] = {"grouped": [], "batch": [], "single": []}
    commits, groups = GroupCommit(ours), SqliteGroups(theirs)
    for turn in range(ROUNDS):
        new = members(f"group{turn}", PRODUCERS * BATCHES * BATCH)
        batches = [new[k : k + BATCH] for k in range(0, len(new), BATCH)]
        a = seconds(
            lambda batches=batches: produce(
                lambda batch: commits.submit(lambda pool: admit_batch(pool, batch)), batches
            )
        )
        b = seconds(lambda batches=batches: produce(groups.submit, batches))
        times["grouped"].append((a, b))
        times["batch"].append(batch_by_batch(ours, theirs, members(f"batch{turn}", BATCHES * BATCH)))
        one = members(f"single{turn}", SINGLES)
        a = seconds(lambda one=one: [ours.admit(member) for member in one])
        times["single"].append((a, seconds(lambda one=one: [theirs.admit_all([member]) for member in one])))
    commits.close()
    groups.close()
    sizes = {"grouped": PRODUCERS * BATCHES * BATCH, "batch": BATCHES * BATCH, "single": SINGLES}
    return {
        name: (sizes[name] / min(a for a, _ in each), sizes[name] / min(b for _, b in each))
        for name, each in times.items()
    }


def batch_by_batch(ours: PoolWriter, theirs: SqlitePool, new: list[Member]) -> tuple[float, float]:
    batches = [new[k : k + BATCH] for k in range(0, len(new), BATCH)]

    def each_durable() -> None:
        for batch in batches:
            with ours.batch():
                admit_batch(ours, batch)

    return seconds(each_durable), seconds(lambda: [theirs.admit_all(batch) for batch in batches])


def main() -> None:
    """Prints operations a second of both sides, and their ratio."""
    folder = Path(tempfile.mkdtemp(prefix="bench-store-"))
    try:
        ours, theirs = PoolWriter.open(folder / "pool"), SqlitePool(folder / "pool.sqlite")
        figures = measure_reads(ours, theirs)
        admissions = measure_admissions(ours, theirs)
        ours.close()
        theirs.close()
    finally:
        shutil.rmtree(folder)
    grouped, batch, single = (admissions[name] for name in ("grouped", "batch", "single"))
    figures[f"admissions, {PRODUCERS} producers of {BATCH}, grouped on both sides"] = grouped
    figures[f"admissions, one producer, a commit for each {BATCH}"] = batch
    figures["admissions, a commit for each one"] = single
    figures["admissions, ours grouped against SQLite one by one"] = (grouped[0], single[1])
    print("store (operations a second)" + " " * 30 + "envolve     sqlite    ratio")
    for name, (a, b) in figures.items():
        print(f"  {name:<54}{a:>9,.0f}  {b:>9,.0f}  {a / b:>6.2f}x")


if __name__ == "__main__":
    main()
