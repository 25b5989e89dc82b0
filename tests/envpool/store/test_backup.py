"""Copies of pools: taken beside a working writer, put back, made smaller; killed in between, a pool is whole."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from envpool.answer_counts import AnswerCount
from envpool.members import Member, Origin, Program, Status
from envpool.store import NewerSchema, PoolReader, PoolWriter, StoreError
from envpool.store.backup import backup, compact, restore
from envpool.store.group_commit import GroupCommit
from envpool.store.integrity import check
from tests.envpool.store.schema_one import make_schema_one

MAP_SIZE = 64 << 20
DIE_AT = """
import os, signal, sys
from pathlib import Path
from envpool.store import backup
def die(*arguments, **named): os.kill(os.getpid(), signal.SIGKILL)
where, what = sys.argv[1], sys.argv[2]
setattr(backup, where, die) if where != "replace" else setattr(os, "replace", die)
backup.compact(Path(what)) if len(sys.argv) == 3 else backup.restore(Path(sys.argv[3]), Path(what))
"""


def program(text: str) -> Member:
    return Member(Program(text + "x" * 1000, "Name", "Rule.", "int", "int"), Origin.GRAMMAR)


def filled(path: Path, count: int = 50) -> set[str]:
    """A pool with members, a rest, answers and room that is not used any more; its ids."""
    with PoolWriter.open(path, MAP_SIZE) as pool:
        for k in range(count):
            pool.admit(program(str(k)))
        pool.transition(program("0").id, Status.RESTING, "easy")
        pool.record([AnswerCount(program("1").id, "main", 0, 8, 4, 8)])
        pool.put_group("main\0kept", b"kept")
        pool.put_group("main\0gone", bytes(4 << 20))
        pool.drop_groups(["main\0gone"])
        return set(pool.ids())


def whole(path: Path) -> set[str]:
    """Asserts that it is a whole pool; its ids."""
    with PoolReader.open(path) as pool:
        assert check(pool) == []
        return set(pool.ids())


def test_a_backup_taken_while_four_threads_admit_is_a_whole_pool(tmp_path: Path) -> None:
    with PoolWriter.open(tmp_path / "pool", MAP_SIZE) as pool:
        commits, enough = GroupCommit(pool), threading.Event()

        def admit(name: int) -> None:
            k = 0
            while not enough.is_set():
                commits.submit(lambda p, k=k: p.admit(program(f"{name} {k}"))).result()
                k += 1

        threads = [threading.Thread(target=admit, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        copies = []
        for number in range(5):
            pool.wait_for_change(pool.position().change + 10, 60)
            copies.append(backup(pool, tmp_path / f"copy-{number}"))
        enough.set()
        for thread in threads:
            thread.join()
        commits.close()
        assert pool.last_sequence() > copies[-1].sequence
    for number, copy in enumerate(copies):
        path = tmp_path / f"copy-{number}"
        assert len(whole(path)) == copy.members == copy.sequence
        assert (path / "data.mdb").stat().st_size == copy.bytes
    assert [copy.sequence for copy in copies] == sorted({copy.sequence for copy in copies})


def test_a_backup_holds_groups_and_place_and_goes_into_an_empty_folder(tmp_path: Path) -> None:
    filled(tmp_path / "pool")
    (tmp_path / "empty").mkdir()
    with PoolReader.open(tmp_path / "pool") as pool:
        backup(pool, tmp_path / "empty")
        with PoolReader.open(tmp_path / "empty") as copy:
            assert copy.position() == pool.position()
            assert copy.pool_id() == pool.pool_id()
            assert copy.group("main\0kept") == b"kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "pool"]


def test_a_backup_replaces_nothing(tmp_path: Path) -> None:
    filled(tmp_path / "pool")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("dear")
    (tmp_path / "file").write_text("dear")
    with PoolReader.open(tmp_path / "pool") as pool:
        for target in ("full", "file"):
            with pytest.raises(StoreError, match="not empty"):
                backup(pool, tmp_path / target)
    assert (tmp_path / "full" / "letter").read_text() == "dear"


def test_compaction_gives_room_back_and_keeps_content_and_limit(tmp_path: Path) -> None:
    ids = filled(tmp_path)
    with PoolReader.open(tmp_path) as pool:
        before, limit = list(pool.rows()), pool._env.info()["map_size"]
    sizes = compact(tmp_path)
    assert sizes.before - sizes.after > 4 << 20
    assert (tmp_path / "data.mdb").stat().st_size == sizes.after
    assert whole(tmp_path) == ids
    with PoolReader.open(tmp_path) as pool:
        assert list(pool.rows()) == before
        assert pool.group_keys() == ["main\0kept"]
        assert pool._env.info()["map_size"] == limit == MAP_SIZE
    with PoolWriter.open(tmp_path, MAP_SIZE) as pool:
        assert pool.admit(program("later"))
    assert whole(tmp_path) == ids | {program("later").id}


@pytest.mark.parametrize("moment", ["_copied", "_take_the_place", "replace"])
def test_a_compaction_killed_at_any_moment_leaves_a_whole_pool(tmp_path: Path, moment: str) -> None:
    ids = filled(tmp_path)
    died = subprocess.run([sys.executable, "-c", DIE_AT, moment, str(tmp_path)], check=False)
    assert died.returncode == -signal.SIGKILL
    assert whole(tmp_path) == ids
    assert compact(tmp_path).after < 4 << 20
    assert not (tmp_path / "aside").exists()


@pytest.mark.parametrize("moment", ["_refuse_damaged", "_kept", "_take_the_place", "replace"])
def test_a_restore_killed_at_any_moment_leaves_the_old_pool(tmp_path: Path, moment: str) -> None:
    ids = filled(tmp_path / "pool")
    filled(tmp_path / "other", 5)
    paths = [str(tmp_path / "pool"), str(tmp_path / "other")]
    died = subprocess.run([sys.executable, "-c", DIE_AT, moment, *paths], check=False)
    assert died.returncode == -signal.SIGKILL
    assert whole(tmp_path / "pool") == ids


def test_a_pool_that_is_open_is_neither_compacted_nor_restored(tmp_path: Path) -> None:
    ids = filled(tmp_path / "pool")
    filled(tmp_path / "other", 5)
    with PoolWriter.open(tmp_path / "pool", MAP_SIZE):
        for change in (compact, lambda path: restore(tmp_path / "other", path)):
            with pytest.raises(StoreError, match="has a writer already"):
                change(tmp_path / "pool")
    reading = "import sys; from envpool.store import PoolReader; p = PoolReader.open(sys.argv[1]); print(1); input()"
    view = subprocess.Popen(
        [sys.executable, "-uc", reading, str(tmp_path / "pool")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    view.stdout.readline()
    for change in (compact, lambda path: restore(tmp_path / "other", path)):
        with pytest.raises(StoreError, match="open in another process"):
            change(tmp_path / "pool")
    view.communicate("done\n")
    assert whole(tmp_path / "pool") == ids
    assert compact(tmp_path / "pool").after > 0


def test_a_restored_pool_is_the_backup_and_the_old_one_is_kept_each_time(tmp_path: Path) -> None:
    ids = filled(tmp_path / "pool")
    with PoolReader.open(tmp_path / "pool") as pool:
        backup(pool, tmp_path / "kept")
    with PoolWriter.open(tmp_path / "pool", MAP_SIZE) as pool:
        pool.admit(program("later"))
    copy, first = restore(tmp_path / "kept", tmp_path / "pool")
    assert (copy.members, whole(tmp_path / "pool")) == (len(ids), ids)
    assert whole(first) == ids | {program("later").id}
    _, second = restore(tmp_path / "kept", tmp_path / "pool")
    assert second != first
    assert whole(second) == ids
    assert restore(tmp_path / "kept", tmp_path / "new")[1] is None
    assert whole(tmp_path / "new") == ids


def test_a_damaged_backup_is_refused_and_an_older_one_brought_up(tmp_path: Path) -> None:
    ids = filled(tmp_path / "pool")
    make_schema_one(tmp_path / "old")
    filled(tmp_path / "bad", 5)
    with PoolWriter.open(tmp_path / "bad", MAP_SIZE) as pool, pool.batch():
        pool._drop("members", program("0").id.encode())
    with pytest.raises(StoreError, match="damaged"):
        restore(tmp_path / "bad", tmp_path / "pool")
    with pytest.raises(StoreError, match="no backup"):
        restore(tmp_path / "nowhere", tmp_path / "pool")
    assert whole(tmp_path / "pool") == ids
    restore(tmp_path / "old", tmp_path / "pool")
    assert len(whole(tmp_path / "pool")) == 2


def test_a_newer_backup_is_refused(tmp_path: Path) -> None:
    ids = filled(tmp_path / "pool")
    filled(tmp_path / "new", 5)
    with PoolWriter.open(tmp_path / "new", MAP_SIZE) as pool, pool.batch():
        pool._put("meta", b"schema", b"9")
    with pytest.raises(NewerSchema, match="9"):
        restore(tmp_path / "new", tmp_path / "pool")
    assert whole(tmp_path / "pool") == ids


def test_a_reader_learns_that_another_pool_lies_in_its_place(tmp_path: Path) -> None:
    filled(tmp_path)
    with PoolReader.open(tmp_path) as pool:
        assert not pool.replaced()
        os.rename(tmp_path / "data.mdb", tmp_path / "old.mdb")
        assert pool.replaced()
