"""`envolve pool census` over the shipped bricks and over a run's pool; the sandbox is the real one."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cluster.cli import app
from envpool.bricks import read_bricks
from envpool.members import Status
from envpool.sandbox import LocalExecutor
from envpool.store import PoolWriter
from tests.cluster.sample import FIRST, SECOND, make_pool
from tests.envpool.composition.bricks import shipped_bricks

runner = CliRunner()


def census(*arguments: object) -> Result:
    result = runner.invoke(app, ["pool", "census", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with one run, `demo`, whose pool holds the two programs of the sample and some shipped bricks."""
    make_pool(tmp_path / "runs" / "demo")
    executor = LocalExecutor()
    bricks = asyncio.run(shipped_bricks(executor, ["pairs/*", "numbers/*"]))
    executor.close()
    with PoolWriter.open(tmp_path / "runs" / "demo" / "pool", map_size=0) as pool:
        for brick in bricks:
            pool.admit(brick, reason="passed 10 gates")
    return tmp_path / "runs"


def test_the_shipped_bricks_are_counted_without_a_run_and_chains_of_six_start_from_every_domain() -> None:
    found = json.loads(census("--composites", 0, "--json").stdout)
    assert found["bricks"] == sum(found["signatures"].values()) == len(read_bricks())
    assert len(found["signatures"]) >= 12
    assert {domain: counts for domain, counts in found["chains"].items() if not counts[5]} == {}
    assert "sample" not in found


def test_a_pools_census_counts_its_active_programs(runs: Path) -> None:
    with PoolWriter.open(runs / "demo" / "pool", map_size=0) as pool:
        pool.transition(SECOND.id, Status.RETIRED, "old")
        bricks = len(pool.ids(Status.ACTIVE)) - 1  # one of them is a composite
    found = json.loads(census("--run", "demo", "--folder", runs, "--composites", 0, "--json").stdout)
    assert found["bricks"] == bricks
    assert found["signatures"][FIRST.signature] == 1
    assert SECOND.signature not in found["signatures"]


def test_a_sample_tells_the_use_of_every_brick(runs: Path) -> None:
    with PoolWriter.open(runs / "demo" / "pool", map_size=0) as pool:
        for identity in (FIRST.id, SECOND.id):  # their sources are no programs
            pool.transition(identity, Status.RETIRED, "old")
    options = ("--run", "demo", "--folder", runs, "--composites", 12)
    sample = json.loads(census(*options, "--json").stdout)["sample"]
    assert sample["composites"] == sum(sample["kinds"].values()) == 12
    assert set(sample["unused"]) == {name for name, count in sample["uses"].items() if not count}
    assert {"Swap", "Double"} <= sample["uses"].keys()
    shown = census(*options).stdout
    assert "use in 12 composites" in shown
    assert "tuple[int, int]" in shown
    assert f"{len(sample['unused'])} unused" in shown


def test_a_run_that_is_not_there_is_told_with_the_nearest_one(runs: Path) -> None:
    result = census("--run", "dem", "--folder", runs)
    assert result.exit_code == 1
    assert "did you mean 'demo'?" in result.stderr
