"""Pools of other schemas: an old one is brought up whole or not at all, a newer one is refused."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import lmdb
import pytest

from envpool.members import Status
from envpool.store import NewerSchema, OlderSchema, PoolReader, PoolWriter
from envpool.store.environment import stored_schema
from envpool.store.integrity import check
from envpool.store.migration import SCHEMA
from tests.envpool.store.schema_one import COMPOSITE, FALLEN, PROGRAM, make_schema_one, rows

DIE_INSIDE_THE_MIGRATION = """
import os, signal, sys
from envpool.store import PoolWriter, migration
def number_changes(txn, meta):
    txn.put(b"pool", b"half", db=meta)
    os.kill(os.getpid(), signal.SIGKILL)
migration.STEPS[1] = number_changes
PoolWriter.open(sys.argv[1], 1 << 24)
"""


def old_rows(path: Path) -> dict[str, dict[bytes, bytes]]:
    with lmdb.open(str(path), readonly=True, max_dbs=16) as env:
        found = {}
        for name in rows() | {"meta": {}}:
            db = env.open_db(name.encode(), create=False)
            with env.begin() as txn:
                found[name] = dict(txn.cursor(db))
        return found


def test_a_pool_of_schema_one_is_brought_up_with_everything_in_it(tmp_path: Path) -> None:
    make_schema_one(tmp_path)
    with PoolWriter.open(tmp_path, 1 << 24) as pool:
        assert pool.ids() == [COMPOSITE, PROGRAM]
        assert pool.status(FALLEN) is Status.REJECTED
        assert pool.level(PROGRAM, "main") == 1
        assert pool.state("progress") == {"step": 9}
        assert pool.last_sequence() == 6
        assert len(pool.pool_id()) == 32
        assert pool.position().change == 0
        assert check(pool) == []
        assert pool.transition(COMPOSITE, Status.RETIRED, "solved")
        assert pool.position().change == 1
    with PoolReader.open(tmp_path) as pool:
        assert pool.status(COMPOSITE) is Status.RETIRED


def test_the_old_pool_is_kept_beside_as_it_was(tmp_path: Path) -> None:
    make_schema_one(tmp_path)
    PoolWriter.open(tmp_path, 1 << 24).close()
    assert old_rows(tmp_path / "backup-schema-1") == rows()
    assert stored_schema(tmp_path) == SCHEMA


def test_a_pool_of_schema_two_is_brought_up_as_it_is(tmp_path: Path) -> None:
    with PoolWriter.open(tmp_path, 1 << 24) as pool:
        identity = pool.pool_id()
        pool.put_state("progress", {"step": 9})
    with lmdb.open(str(tmp_path), max_dbs=16) as env, env.begin(write=True) as txn:
        txn.put(b"schema", b"2", db=env.open_db(b"meta", txn=txn))
    with pytest.raises(OlderSchema):
        PoolReader.open(tmp_path)
    with PoolWriter.open(tmp_path, 1 << 24) as pool:
        assert (pool.pool_id(), pool.state("progress")) == (identity, {"step": 9})
        assert check(pool) == []
    assert stored_schema(tmp_path) == SCHEMA and stored_schema(tmp_path / "backup-schema-2") == 2


def test_a_pool_keeps_its_identity_through_migration_and_reopening(tmp_path: Path) -> None:
    make_schema_one(tmp_path)
    seen = set()
    for _ in range(3):
        with PoolWriter.open(tmp_path, 1 << 24) as pool:
            seen.add((pool.pool_id(), pool.position()))
    assert len(seen) == 1


def test_a_reader_of_an_old_pool_is_told_how_to_bring_it_up(tmp_path: Path) -> None:
    make_schema_one(tmp_path)
    with pytest.raises(OlderSchema, match=rf"schema 1; this version reads {SCHEMA}.*envolve pool migrate"):
        PoolReader.open(tmp_path)
    assert stored_schema(tmp_path) == 1


def test_a_process_killed_inside_the_migration_leaves_the_old_pool(tmp_path: Path) -> None:
    make_schema_one(tmp_path)
    process = subprocess.run([sys.executable, "-c", DIE_INSIDE_THE_MIGRATION, str(tmp_path)], check=False)
    assert process.returncode == -signal.SIGKILL
    assert old_rows(tmp_path) == rows()
    with PoolWriter.open(tmp_path, 1 << 24) as pool:
        assert check(pool) == []
    assert old_rows(tmp_path / "backup-schema-1") == rows()


def test_a_newer_pool_is_refused_naming_both_schemas_and_not_touched(tmp_path: Path) -> None:
    PoolWriter.open(tmp_path, 1 << 24).close()
    with lmdb.open(str(tmp_path), max_dbs=16) as env, env.begin(write=True) as txn:
        txn.put(b"schema", str(SCHEMA + 1).encode(), db=env.open_db(b"meta", txn=txn))
    before = os.stat(tmp_path / "data.mdb").st_mtime_ns
    for kind in (PoolReader, PoolWriter):
        with pytest.raises(NewerSchema, match=f"schema {SCHEMA + 1}; this version knows {SCHEMA}"):
            kind.open(tmp_path)
    assert os.stat(tmp_path / "data.mdb").st_mtime_ns == before
    assert not list(tmp_path.glob("backup-*"))
