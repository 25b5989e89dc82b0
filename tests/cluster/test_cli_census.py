"""`envolve pool census` over the shipped bricks and over a run's pool; the sandbox is the real one."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cluster.cli import app
from cluster.cli.pool_census import _words
from envpool.bricks import read_bricks
from envpool.composition.census import coverage
from envpool.members import Composite, Program, Status
from envpool.sandbox import LocalExecutor
from envpool.store import PoolWriter
from tests.cluster.sample import FIRST, SECOND, make_pool
from tests.envpool.composition.bricks import inspected, shipped_bricks

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
    sample = found["sample"]
    assert (sample["asked"], sample["composites"], sample["even"]) == (0, 0, None)
    assert {each["name"] for each in sample["uses"].values()} == {name for name, _ in read_bricks()}


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
    assert set(sample["unused"]) == {id for id, each in sample["uses"].items() if not each["uses"]}
    assert {"Swap", "Double"} <= {each["name"] for each in sample["uses"].values()}
    shown = census(*options).stdout
    assert "use in 12 composites" in shown
    assert "tuple[int, int]" in shown
    assert f"{len(sample['unused'])} unused" in shown
    assert sample["even"] is None
    assert "too small to tell" in shown
    assert f"about {sample['composites that tell']:,} composites" in shown


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one run, `twins`: three bricks, two of one name, of which few kinds of composite can be made."""
    folder = tmp_path_factory.mktemp("runs")
    executor = LocalExecutor()
    kept = asyncio.run(shipped_bricks(executor, ["numbers/double", "pairs/swap"]))
    double = kept[0].material
    assert isinstance(double, Program)
    twin = asyncio.run(inspected(executor, double.source + "\n# Another text of the same name.\n"))
    executor.close()
    make_pool(folder / "twins")
    with PoolWriter.open(folder / "twins" / "pool", map_size=0) as pool:
        for identity in (FIRST.id, SECOND.id):  # their sources are no programs
            pool.transition(identity, Status.RETIRED, "old")
        for brick in (*kept, twin):
            pool.admit(brick, reason="passed 10 gates")
    return folder


def test_two_bricks_of_one_name_are_told_apart(twins: Path) -> None:
    options = ("--run", "twins", "--folder", twins, "--composites", 2)
    uses = json.loads(census(*options, "--json").stdout)["sample"]["uses"]
    doubles = [id for id, each in uses.items() if each["name"] == "Double"]
    assert (len(doubles), len(uses)) == (2, 3)
    shown = census(*options).stdout
    assert all(f"Double {id[:12]}" in shown for id in doubles)


def test_a_sample_of_one_from_a_small_pool_is_found_without_a_word_on_batches(twins: Path) -> None:
    result = census("--run", "twins", "--folder", twins, "--composites", 1, "--json")
    assert json.loads(result.stdout)["sample"]["composites"] == 1
    assert "composed" not in result.stderr


def test_a_pool_that_gives_fewer_says_how_many() -> None:
    few = coverage(["a", "b"], [Composite("SEQUENTIAL", (("a", "b"),), "int", "int")])
    (shortage, verdict) = _words(5, few)
    assert shortage.startswith("1 of the 5 composites asked for could be made")
    assert "too small to tell" in verdict
    assert _words(5, coverage(["a"], [])) == [shortage.replace("1 of", "0 of")]
    assert _words(5, coverage([], [])) == ["no composites could be made: there is no brick to make them of"]


def test_no_sample_is_said_in_words(twins: Path) -> None:
    assert (
        "no composites were sampled" in census("--run", "twins", "--folder", twins, "--composites", 0).stdout
    )


def test_without_a_terminal_lines_say_how_far_it_is(twins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cluster.cli.advance.PAUSE", 0.0)
    result = census("--run", "twins", "--folder", twins, "--composites", 1, "--json")
    assert "composites (1 candidates looked at): 0 of 1" in result.stderr
    assert json.loads(result.stdout)["sample"]["asked"] == 1


def test_a_folder_of_runs_without_a_run_is_refused_with_the_way_out(tmp_path: Path) -> None:
    result = census("--folder", tmp_path)
    assert result.exit_code == 2
    assert "add --run NAME" in result.stderr


def test_a_run_that_is_not_there_is_told_with_the_nearest_one(runs: Path) -> None:
    result = census("--run", "dem", "--folder", runs)
    assert result.exit_code == 1
    assert "did you mean 'demo'?" in result.stderr
