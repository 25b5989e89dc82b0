"""Keeping a pool whole from the command line: what each command prints, and that a refusal says what to do."""

from __future__ import annotations

import json
from pathlib import Path

import lmdb
import pytest
from typer.testing import CliRunner, Result

from cluster.cli import app
from envpool.store import PoolReader, PoolWriter
from envpool.store.migration import SCHEMA
from tests.cluster.sample import FIRST, FUSED, SECOND, make_pool
from tests.envpool.store.schema_one import make_schema_one

runner = CliRunner()


def envolve(*arguments: object) -> Result:
    result = runner.invoke(app, ["pool", *(str(argument) for argument in arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with one run, `demo`, that has a pool."""
    make_pool(tmp_path / "runs" / "demo")
    return tmp_path / "runs"


def ids(pool: Path) -> set[str]:
    with PoolReader.open(pool) as reader:
        return set(reader.ids())


@pytest.mark.parametrize("command", ["backup", "check", "compact", "migrate", "restore"])
def test_every_command_explains_itself(command: str) -> None:
    assert envolve(command, "--help").exit_code == 0


def test_a_backup_is_a_pool_and_a_full_folder_is_left_alone(runs: Path, tmp_path: Path) -> None:
    target = tmp_path / "kept" / "monday"
    result = envolve("backup", target, "--run", "demo", "--folder", runs)
    assert result.exit_code == 0
    assert "3 members, journal up to 5" in result.stdout
    assert ids(target) == {FIRST.id, SECOND.id, FUSED.id}
    assert "whole, 3 members" in envolve("check", target).stdout
    again = envolve("backup", target, "--run", "demo", "--folder", runs)
    assert again.exit_code == 1
    assert "not empty" in again.stderr


def test_check_names_what_it_finds_and_ends_with_one(runs: Path) -> None:
    assert envolve("check", "--folder", runs).exit_code == 0
    assert json.loads(envolve("check", "--folder", runs, "--json").stdout) == []
    with lmdb.open(str(runs / "demo" / "pool"), max_dbs=16) as env, env.begin(write=True) as txn:
        txn.delete(SECOND.id.encode(), db=env.open_db(b"members", txn=txn))
    result = envolve("check", "--folder", runs)
    assert result.exit_code == 1
    assert SECOND.id in result.stdout
    assert "restore" in result.stderr
    found = json.loads(envolve("check", "--folder", runs, "--json").stdout)
    assert {"database", "key", "text"} == set(found[0])


def test_restore_takes_a_backup_back_and_keeps_the_old_pool(runs: Path, tmp_path: Path) -> None:
    envolve("backup", tmp_path / "kept", "--folder", runs)
    with PoolWriter.open(runs / "demo" / "pool", map_size=1 << 24) as pool:
        pool.put_state("later", 1)
        refused = envolve("restore", tmp_path / "kept", "--run", "demo", "--folder", runs)
        assert refused.exit_code == 1
        assert "has a writer already" in refused.stderr
    result = envolve("restore", tmp_path / "kept", "--run", "demo", "--folder", runs)
    assert result.exit_code == 0
    (old,) = (runs / "demo" / "pool").glob("before-restore-*")
    assert str(old) in result.stdout.replace("\n", "")
    with PoolReader.open(runs / "demo" / "pool") as now, PoolReader.open(old) as before:
        assert (now.state("later"), before.state("later")) == (None, 1)
    nothing = envolve("restore", tmp_path / "nowhere", "--run", "demo", "--folder", runs)
    assert nothing.exit_code == 1
    assert "no backup" in nothing.stderr


def test_a_backup_older_than_a_checkpoint_is_not_put_back_beside_it(runs: Path, tmp_path: Path) -> None:
    envolve("backup", tmp_path / "kept", "--folder", runs)
    checkpoint = runs / "demo" / "checkpoints" / "version-000012"
    checkpoint.mkdir(parents=True)
    refused = envolve("restore", tmp_path / "kept", "--run", "demo", "--folder", runs)
    assert refused.exit_code == 1
    assert "newer than the backup (version 0)" in refused.stderr.replace("\n", " ")
    checkpoint.rmdir()
    assert envolve("restore", tmp_path / "kept", "--run", "demo", "--folder", runs).exit_code == 0


def test_compact_says_what_it_gave_back(runs: Path) -> None:
    pool = runs / "demo" / "pool"
    with PoolWriter.open(pool, map_size=1 << 24) as writer:
        writer.put_group("main\0g", bytes(2 << 20))
        writer.drop_groups(["main\0g"])
    before = (pool / "data.mdb").stat().st_size
    result = envolve("compact", "--folder", runs)
    assert result.exit_code == 0
    assert f"{before:,} bytes before, {(pool / 'data.mdb').stat().st_size:,} after" in result.stdout
    assert (pool / "data.mdb").stat().st_size < before


def test_migrate_brings_an_older_pool_up_and_every_other_command_says_how(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    make_pool(runs / "demo")
    pool = runs / "demo" / "pool"
    for name in ("data.mdb", "lock.mdb"):
        (pool / name).unlink()
    make_schema_one(pool)
    for command in (["ls"], ["check"], ["backup", tmp_path / "kept"]):
        result = envolve(*command, "--folder", runs)
        assert result.exit_code == 1
        assert "envolve pool migrate" in result.stderr
    assert f"schema 1 became {SCHEMA}" in envolve("migrate", "--folder", runs).stdout
    assert "already" in envolve("migrate", "--folder", runs).stdout
    assert "whole, 2 members" in envolve("check", "--folder", runs).stdout
