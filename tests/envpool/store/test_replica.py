"""Replicas: whatever a follower was given, however late and often, they are a moment of the pool or refuse."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import lmdb
import msgpack
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from envpool.answer_counts import AnswerCount
from envpool.members import Member, Origin, Program, Status
from envpool.store import NoPool, PoolReader, PoolReplica, PoolWriter, ReplicaDiverged, StoreError
from envpool.store.backup import backup, restore
from envpool.store.changes import Transaction
from envpool.store.integrity import check
from envpool.store.replica import remove_abandoned
from envpool.store.snapshots import SnapshotFile, snapshot_chunks

MAP_SIZE = 64 << 20
LOG_BYTES = 6000
FOLLOW = """
import sys
from pathlib import Path
from envpool.store import Changes, PoolReplica
replica = PoolReplica.open(sys.argv[1], 64 << 20)
print("open", flush=True)
for line in sys.stdin:
    raw = Path(line.strip()).read_bytes()
    replica.apply(Changes.unpack(raw).transactions)
    print(replica.position().change, flush=True)
"""
DIE_INSIDE = """
import os, signal, sys
from pathlib import Path
from envpool.store import Changes, PoolReplica
replica = PoolReplica.open(sys.argv[1], 64 << 20)
repeat, left = replica._repeat, int(sys.argv[3])
def dying(txn, operations):
    global left
    repeat(txn, operations)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
replica._repeat = dying
given = Path(sys.argv[2]).read_bytes()
if sys.argv[4] == "changes":
    replica.apply(Changes.unpack(given).transactions)
else:
    from msgpack import unpackb
    replica.restore(unpackb(given))
"""
DIE_BETWEEN_COMMIT_AND_LOG = """
import os, signal, sys
from envpool.store import PoolWriter
pool = PoolWriter.open(sys.argv[1], 64 << 20)
pool.log.append = lambda transaction: os.kill(os.getpid(), signal.SIGKILL)
pool.put_state("x", 2)
"""


def program(text: str) -> Member:
    return Member(Program(text, "Name", "Rule.", "int", "int"), Origin.GRAMMAR)


def give(pool: PoolWriter, replica: PoolReplica, limit_bytes: int = 1 << 20) -> None:
    """One turn of a follower."""
    changes = pool.changes(*replica.position(), limit_bytes=limit_bytes)
    if changes is None:
        replica.restore(snapshot_chunks(pool, chunk_bytes=700))
    else:
        replica.apply(changes.transactions)


@pytest.fixture
def pool(tmp_path: Path) -> PoolWriter:
    with PoolWriter.open(tmp_path / "pool", MAP_SIZE) as writer:
        yield writer


@pytest.fixture
def replica(tmp_path: Path) -> PoolReplica:
    with PoolReplica.open(tmp_path / "replica", MAP_SIZE) as each:
        yield each


class Following(RuleBasedStateMachine):
    """A writer, a follower, and everything between them that can be early, late, double, gone or of another history."""

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="following-"))
        self.pool = PoolWriter.open(self.folder / "pool", MAP_SIZE, LOG_BYTES)
        self.replica = PoolReplica.open(self.folder / "replica", MAP_SIZE)
        self.past: list[tuple[Transaction, ...]] = []
        self.snapshots: list[list[bytes]] = []
        self.rows_at = {self.pool.position(): list(self.pool.rows())}
        self.backups = 0

    def teardown(self) -> None:
        if hasattr(self, "pool"):
            self.pool.close()
            self.replica.close()
            shutil.rmtree(self.folder)

    def remember(self) -> None:
        self.rows_at[self.pool.position()] = list(self.pool.rows())

    @rule(text=st.integers(0, 30), size=st.integers(0, 1500))
    def admit(self, text: int, size: int) -> None:
        self.pool.admit(program(f"{text}" + "x" * size))
        self.remember()

    @rule(text=st.integers(0, 5), status=st.sampled_from([Status.RESTING, Status.RETIRED]))
    def change(self, text: int, status: Status) -> None:
        with self.pool.batch():
            self.pool.reject(f"p{text}", Origin.POLICY, "L1", "fell")
            self.pool.put_state("x", [text])
            for id in self.pool.ids(Status.ACTIVE)[:1]:
                self.pool.transition(id, status, "so")
                self.pool.record([AnswerCount(id, "main", text, 8, 2, 8)])
                self.pool.set_level(id, "main", text, "so")
        self.remember()
        self.pool.delete_state("x")
        self.remember()

    @rule(size=st.integers(0, 3000))
    def keep_a_group(self, size: int) -> None:
        self.pool.put_group("main\0g", bytes(size))

    @rule(limit=st.integers(1, 4000))
    def follow(self, limit: int) -> None:
        changes = self.pool.changes(*self.replica.position(), limit_bytes=limit)
        if changes is not None:
            self.past.append(changes.transactions)
            self.replica.apply(changes.transactions)

    @rule(choose=st.randoms(use_true_random=False))
    def something_old_comes_again(self, choose: random.Random) -> None:
        if self.past:
            before = self.replica.position(), list(self.replica.rows())
            try:
                self.replica.apply(choose.choice(self.past))
            except ReplicaDiverged:
                assert (self.replica.position(), list(self.replica.rows())) == before

    @rule(choose=st.randoms(use_true_random=False))
    def take_a_snapshot_new_or_old(self, choose: random.Random) -> None:
        self.snapshots.append(list(snapshot_chunks(self.pool, chunk_bytes=700)))
        self.replica.restore(choose.choice(self.snapshots))

    @rule()
    def a_snapshot_is_cut_off(self) -> None:
        before = list(self.replica.rows())
        with pytest.raises(StoreError, match="cut off"):
            self.replica.restore(list(snapshot_chunks(self.pool, chunk_bytes=100))[:-1])
        assert list(self.replica.rows()) == before

    @rule()
    def the_follower_starts_anew(self) -> None:
        self.replica.close()
        self.replica = PoolReplica.open(self.folder / "replica", MAP_SIZE)

    @rule()
    def the_writer_starts_anew(self) -> None:
        self.pool.close()
        self.pool = PoolWriter.open(self.folder / "pool", MAP_SIZE, LOG_BYTES)

    @rule()
    def the_pool_is_backed_up(self) -> None:
        self.backups += 1
        backup(self.pool, self.folder / f"backup-{self.backups}")

    @rule()
    def the_pool_falls_back_to_its_last_backup(self) -> None:
        if self.backups:
            self.pool.close()
            restore(self.folder / f"backup-{self.backups}", self.folder / "pool")
            self.pool = PoolWriter.open(self.folder / "pool", MAP_SIZE, LOG_BYTES)
            self.remember()

    @invariant()
    def the_replica_is_some_moment_of_the_pool(self) -> None:
        if hasattr(self, "pool"):
            rows = list(self.replica.rows())
            assert not rows or rows == self.rows_at[self.replica.position()]
            assert self.replica.group_keys() == []

    @invariant()
    def who_follows_to_the_end_has_the_pool(self) -> None:
        if hasattr(self, "pool"):
            aside = PoolReplica.open(self.folder / "aside", MAP_SIZE)
            with aside:
                while aside.position() != self.pool.position():
                    give(self.pool, aside, 2000)
                assert list(aside.rows()) == list(self.pool.rows())


Following.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
TestFollowing = Following.TestCase


def test_a_reader_opens_a_replica_as_it_opens_a_pool(tmp_path: Path, pool: PoolWriter) -> None:
    pool.admit(program("a"))
    with PoolReplica.open(tmp_path / "replica", MAP_SIZE) as replica:
        give(pool, replica)
    with PoolReader.open(tmp_path / "replica") as reader:
        assert reader.get(program("a").id) == program("a")
        assert reader.pool_id() == pool.pool_id()
        assert check(reader) == []


def test_a_replica_without_a_snapshot_is_no_pool_yet(tmp_path: Path) -> None:
    PoolReplica.open(tmp_path, MAP_SIZE).close()
    with pytest.raises(NoPool, match="first snapshot"):
        PoolReader.open(tmp_path)


def test_a_replica_and_a_pool_are_never_taken_for_each_other(
    tmp_path: Path, pool: PoolWriter, replica: PoolReplica
) -> None:
    with pytest.raises(StoreError, match="is the pool itself"):
        PoolReplica.open(pool.path, MAP_SIZE)
    with pytest.raises(StoreError, match="is a replica"):
        PoolWriter.open(replica.path, MAP_SIZE)
    with pytest.raises(StoreError, match=f"has a follower already.*{os.getpid()}"):
        PoolReplica.open(replica.path, MAP_SIZE)


def test_a_replica_of_another_boot_schema_or_without_sense_is_made_anew(
    tmp_path: Path, pool: PoolWriter
) -> None:
    def boot(path: Path) -> None:
        (path / "boot").write_text("another boot")

    def schema(path: Path) -> None:
        with lmdb.open(str(path), max_dbs=16) as env, env.begin(write=True) as txn:
            txn.put(b"schema", b"1", db=env.open_db(b"meta", txn=txn))

    def noise(path: Path) -> None:
        (path / "data.mdb").write_bytes(os.urandom(1 << 16))

    for number, damage in enumerate((boot, schema, noise)):
        path = tmp_path / f"replica-{number}"
        with PoolReplica.open(path, MAP_SIZE) as replica:
            give(pool, replica)
        with PoolReplica.open(path, MAP_SIZE) as replica:
            assert replica.position() == pool.position()
        damage(path)
        with PoolReplica.open(path, MAP_SIZE) as replica:
            assert list(replica.rows()) == []
            give(pool, replica)
            assert list(replica.rows()) == list(pool.rows())


def test_a_follower_behind_the_log_is_brought_up_by_a_snapshot(tmp_path: Path, replica: PoolReplica) -> None:
    with PoolWriter.open(tmp_path / "pool", MAP_SIZE, LOG_BYTES) as pool:
        give(pool, replica)
        for k in range(50):
            pool.admit(program(f"{k}" + "x" * 500))
        assert pool.changes(*replica.position()) is None
        give(pool, replica)
        assert list(replica.rows()) == list(pool.rows())


def test_a_writer_killed_between_commit_and_log_costs_a_snapshot_and_nothing_else(
    tmp_path: Path, replica: PoolReplica
) -> None:
    with PoolWriter.open(tmp_path / "pool", MAP_SIZE) as pool:
        pool.put_state("x", 1)
        give(pool, replica)
    died = subprocess.run(
        [sys.executable, "-c", DIE_BETWEEN_COMMIT_AND_LOG, str(tmp_path / "pool")], check=False
    )
    assert died.returncode == -signal.SIGKILL
    with PoolWriter.open(tmp_path / "pool", MAP_SIZE) as pool:
        assert pool.state("x") == 2
        assert pool.changes(*replica.position()) is None
        give(pool, replica)
        assert replica.state("x") == 2
        assert list(replica.rows()) == list(pool.rows())


@pytest.mark.parametrize("what", ["changes", "snapshot"])
@pytest.mark.parametrize("after", [1, 3, 5])
def test_a_follower_killed_inside_a_batch_or_snapshot_leaves_the_moment_before(
    tmp_path: Path, pool: PoolWriter, what: str, after: int
) -> None:
    path = tmp_path / "replica"
    with PoolReplica.open(path, MAP_SIZE) as replica:
        pool.admit(program("first"))
        give(pool, replica)
        position, before = replica.position(), list(replica.rows())
    for k in range(5):
        pool.admit(program(f"{k}" + "x" * 1000))
    given = tmp_path / "given"
    if what == "changes":
        given.write_bytes(pool.changes(*position).pack())
    else:
        given.write_bytes(msgpack.packb(list(snapshot_chunks(pool, chunk_bytes=1000))))
    died = subprocess.run([sys.executable, "-c", DIE_INSIDE, path, given, str(after), what], check=False)
    assert died.returncode == -signal.SIGKILL
    with PoolReplica.open(path, MAP_SIZE) as replica:
        assert list(replica.rows()) == before
        give(pool, replica)
        assert list(replica.rows()) == list(pool.rows())


@pytest.mark.parametrize("seed", range(4))
def test_a_follower_killed_at_any_moment_goes_on_from_where_it_was(
    tmp_path: Path, pool: PoolWriter, seed: int
) -> None:
    path, noise = tmp_path / "replica", random.Random(seed)
    with PoolReplica.open(path, MAP_SIZE) as replica:
        give(pool, replica)
    follower = subprocess.Popen(
        [sys.executable, "-c", FOLLOW, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert follower.stdout.readline() == "open\n"
    seen = pool.position()
    for k in range(40):
        with pool.batch():
            for j in range(20):
                pool.admit(program(f"{k} {j}" + "x" * 500))
        given = tmp_path / f"given-{k}"
        given.write_bytes(pool.changes(*seen).pack())
        seen = pool.position()
        follower.stdin.write(f"{given}\n")
    follower.stdin.flush()
    time.sleep(noise.uniform(0, 0.05))
    follower.kill()
    acknowledged = [int(line) for line in follower.communicate()[0].split()]
    with PoolReader.open(path) as reader:
        change = reader.position().change
        assert change >= max(acknowledged, default=0), "what was applied is there"
        assert len(reader.ids()) == 20 * change
        assert check(reader) == []
    with PoolReplica.open(path, MAP_SIZE) as replica:
        give(pool, replica)
        assert list(replica.rows()) == list(pool.rows())


def test_a_readers_handle_in_another_process_stays_good_across_snapshots(
    tmp_path: Path, pool: PoolWriter, replica: PoolReplica
) -> None:
    pool.put_state("n", 0)
    give(pool, replica)
    code = (
        "import sys; from envpool.store import PoolReader; pool = PoolReader.open(sys.argv[1])\n"
        "for line in sys.stdin: print(pool.state('n'), pool.replaced(), flush=True)"
    )
    reader = subprocess.Popen(
        [sys.executable, "-c", code, replica.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    for number in range(1, 4):
        pool.put_state("n", number)
        replica.restore(snapshot_chunks(pool))
        reader.stdin.write("\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == f"{number} False\n"
    reader.communicate("")


def test_a_snapshot_in_a_file_is_taken_chunk_by_chunk(
    tmp_path: Path, pool: PoolWriter, replica: PoolReplica
) -> None:
    for k in range(20):
        pool.admit(program(f"{k}" + "x" * 300))
    snapshot = SnapshotFile.write(pool, tmp_path / "snapshot", chunk_bytes=1000)
    pool.put_state("later", 1)
    assert snapshot.chunks > 3
    assert snapshot.size == snapshot.path.stat().st_size
    chunks = [snapshot.chunk(index) for index in range(snapshot.chunks)]
    assert replica.restore(chunks) == snapshot.position
    assert replica.state("later") is None
    for wrong in (chunks[1:], chunks[:-1], [chunks[0], *chunks], chunks[::-1], []):
        with pytest.raises(StoreError, match="snapshot"):
            replica.restore(wrong)
    snapshot.remove()
    with pytest.raises(FileNotFoundError):
        snapshot.chunk(0)


def test_closing_waits_for_a_snapshot_that_is_being_written(
    tmp_path: Path, pool: PoolWriter, replica: PoolReplica
) -> None:
    pool.admit(program("a"))
    chunks, begun, go = list(snapshot_chunks(pool, chunk_bytes=100)), threading.Event(), threading.Event()

    def slow() -> Iterator[bytes]:
        for chunk in chunks:
            begun.set()
            go.wait()
            yield chunk

    writing = threading.Thread(target=replica.restore, args=(slow(),))
    writing.start()
    begun.wait()
    closing = threading.Thread(target=replica.close)
    closing.start()
    go.set()
    writing.join()
    closing.join()
    with PoolReader.open(replica.path) as reader:
        assert list(reader.rows()) == list(pool.rows())


def test_abandoned_replicas_are_removed_and_those_in_use_stay(tmp_path: Path, pool: PoolWriter) -> None:
    for name in ("followed", "read", "left", "reader-left"):
        with PoolReplica.open(tmp_path / "replicas" / name, MAP_SIZE) as replica:
            give(pool, replica)
    (tmp_path / "replicas" / "something-else").mkdir()
    code = "import sys; from envpool.store import PoolReader; p = PoolReader.open(sys.argv[1]); print(1); input()"
    readers = [
        subprocess.Popen(
            [sys.executable, "-uc", code, tmp_path / "replicas" / name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("read", "reader-left")
    ]
    for reader in readers:
        reader.stdout.readline()
    readers[1].kill()
    readers[1].communicate()
    with PoolReplica.open(tmp_path / "replicas" / "followed", MAP_SIZE) as followed:
        removed = {path.name for path in remove_abandoned(tmp_path / "replicas")}
        assert removed == {"left", "reader-left"}
        give(pool, followed)
    readers[0].communicate("done\n")
    left = {path.name for path in (tmp_path / "replicas").iterdir()}
    assert left == {"followed", "read", "something-else"}
