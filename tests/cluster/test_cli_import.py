"""`envolve import`: what each pool takes in, what is told of the rest, and that nothing is lost on the way."""

import asyncio
import errno
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cluster import control
from cluster.cli import app, importing
from cluster.going import driven
from cluster.resolve import ConfigError, resolve
from cluster.run_folder import RunFolderError, held, locked
from envpool import Pool
from envpool.exchange.importing import Row, Standing
from envpool.exchange.offers import Offer
from envpool.members import Origin, Program, Status
from envpool.sandbox import InfrastructureFault
from envpool.store import PoolReader, PoolWriter
from tests.cluster.sample import BROKEN, FIRST, PROGRAM, make_pool
from tests.envpool.exchange.rlve_stand_in import write_checkout

OTHER = (
    PROGRAM.replace("CountLarge", "CountTwos")
    .replace("larger than 5", "equal to 2")
    .replace("n > 5", "n == 2")
)
RENAMED = (
    PROGRAM.replace("CountLarge", "Large").replace("for n in x", "for each in x").replace("n > 5", "each > 5")
)


def bring(*arguments: object) -> Result:
    result = CliRunner().invoke(app, ["import", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def rows_of(result: Result) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    return {row["name"]: row for row in rows}


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder of files: two programs, one that falls, and one that is none of them."""
    folder = tmp_path / "mine"
    (folder / "counting").mkdir(parents=True)
    for name, source in (
        ("counting/large", PROGRAM),
        ("twos", OTHER),
        ("broken", BROKEN),
        ("_shared", "x = 1"),
    ):
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    return folder


def test_a_folder_becomes_a_pool_and_every_file_is_accounted_for(mine: Path, tmp_path: Path) -> None:
    into, report = tmp_path / "new", tmp_path / "report.json"
    told = bring("folder", mine, "--into", into, "--report", report)
    assert told.exit_code == 1
    lines = told.stdout.splitlines()
    assert lines[0] == "broken  rejected at imports: imports os, which is not allowed"
    assert lines[1].startswith("counting/large  admitted: p")
    assert "2 of 3 in the pool; rejected at imports 1" in told.stdout
    assert f"envolve run pool.imports={into}" in told.stderr
    assert f"envolve pool ls --pool {into}" in told.stderr
    whole = json.loads(report.read_text(encoding="utf-8"))
    assert (whole["offered"], whole["counts"], whole["gates"]) == (
        3,
        {"rejected": 1, "admitted": 2},
        {"imports": 1},
    )
    with Pool.open(into) as pool:
        assert {pool.get(id).family for id in pool.ids()} == {"counting/large", "twos"}
        assert {pool.get(id).origin for id in pool.ids()} == {Origin.USER}
        assert pool.draw(1).prompt
    with PoolReader.open(into) as pool:
        (fallen,) = pool.ids(Status.REJECTED)
        assert (rejection := pool.rejection(fallen)) and rejection.source == BROKEN


def test_what_a_pool_has_seen_is_not_judged_again_unless_that_is_asked_for(
    mine: Path, tmp_path: Path
) -> None:
    into = tmp_path / "new"
    first = rows_of(bring("folder", mine, "twos", "broken", "--into", into, "--json"))
    assert not any(row["before"] for row in first.values())
    second = bring("folder", mine, "--into", into, "--json")
    rows = rows_of(second)
    assert {name: (row["ended"], row["before"]) for name, row in rows.items()} == {
        "broken": ("rejected", True), "counting/large": ("admitted", False), "twos": ("there", True),
    }  # fmt: skip
    assert (rows["broken"]["gate"], second.exit_code) == ("imports", 1)
    again = rows_of(bring("folder", mine, "broken", "--into", into, "--again", "--json"))
    assert (again["broken"]["gate"], again["broken"]["before"]) == ("imports", False)


def test_the_pool_of_a_run_that_stands_still_is_added_to(mine: Path, tmp_path: Path) -> None:
    make_pool(tmp_path / "runs" / "demo")
    told = bring("folder", mine, "twos", "--folder", tmp_path / "runs", "--json")
    assert (told.exit_code, rows_of(told)["twos"]["ended"]) == (0, "admitted")
    with PoolReader.open(tmp_path / "runs" / "demo" / "pool") as pool:
        (id,) = pool.ids(Status.ACTIVE, Origin.USER)
        entry = pool.journal()[-1]
        assert (entry.id, entry.reason, entry.step) == (id, "imported", 4)


def test_what_is_set_apart_is_no_training_and_its_copies_and_its_family_are_contamination(
    tmp_path: Path,
) -> None:
    checkout, into = write_checkout(tmp_path / "rlve", "NearlySorted"), tmp_path / "new"
    assert "1 set apart" in bring("rlve", checkout, "--into", into, "--held-out").stdout
    with Pool.open(into) as pool:
        (id,) = pool.ids(held_out=True)
        assert (pool.ids(), pool.get(id).evidence["licence"]) == ([], "MIT")
        source = pool.get(id).material.source  # type: ignore[union-attr]
    harder = checkout / "Gym" / "parameter_controllers" / "nearlysorted" / "parameter_controller.py"
    harder.write_text(
        harder.read_text(encoding="utf-8").replace("self.N = 3", "self.N = 5"), encoding="utf-8"
    )
    row = rows_of(bring("rlve", checkout, "--into", into, "--json"))["rlve/NearlySorted"]
    assert (row["gate"], "of one family with" in row["reason"]) == ("contamination", True)
    copy = tmp_path / "copy.py"
    copy.write_text(source.replace("class NearlySorted(", "class Copied("), encoding="utf-8")
    row = rows_of(bring("folder", copy, "--into", into, "--json"))["copy"]
    assert (row["gate"], "the same code" in row["reason"]) == ("contamination", True)


def test_what_may_be_trained_on_cannot_be_set_apart_any_more(mine: Path, tmp_path: Path) -> None:
    assert bring("folder", mine, "twos", "--into", tmp_path / "new").exit_code == 0
    told = bring("folder", mine, "twos", "--into", tmp_path / "new", "--held-out", "--json")
    row = rows_of(told)["twos"]
    assert (told.exit_code, row["gate"], "too late" in row["reason"]) == (1, "contamination", True)


def test_where_the_machine_fails_nothing_is_recorded_and_the_rest_goes_on(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Standing.judge

    async def faulty(door: Standing, offer: Offer) -> Row:
        if offer.name == "counting/large":
            raise InfrastructureFault("no fork")
        return await judge(door, offer)

    monkeypatch.setattr(Standing, "judge", faulty)
    told = bring("folder", mine, "counting/large", "twos", "--into", tmp_path / "new", "--json")
    rows = rows_of(told)
    assert (told.exit_code, rows["counting/large"]["ended"], rows["twos"]["ended"]) == (
        2,
        "undecided",
        "admitted",
    )
    with PoolReader.open(tmp_path / "new") as pool:
        assert len(pool.ids()) == 1 and pool.ids(Status.REJECTED) == []


def test_a_file_that_cannot_be_read_is_named_and_the_others_go_on(mine: Path, tmp_path: Path) -> None:
    (mine / "latin.py").write_bytes(PROGRAM.replace("integers", "entiers \xe0 z\xe9ro").encode("latin-1"))
    (mine / "gone.py").symlink_to(tmp_path / "nowhere.py")
    (mine / "folder.py").mkdir()
    (mine / "twos.py").rename(mine / "folder.py" / "twos.py")
    told = bring("folder", mine, "--into", tmp_path / "new", "--json")
    rows = rows_of(told)
    assert {name: row["ended"] for name, row in rows.items()} == {
        "broken": "rejected", "counting/large": "admitted", "folder.py/twos": "admitted",
        "gone": "undecided", "latin": "undecided",
    }  # fmt: skip
    assert (told.exit_code, "the same command tries them again" in told.stderr) == (2, True)
    for name, why in (("latin", "can't decode byte 0xe0"), ("gone", "No such file")):
        assert f"{name}.py cannot be read: " in rows[name]["reason"] and why in rows[name]["reason"]


def test_where_nothing_can_be_read_no_pool_is_made(tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes(b"\xe9")
    told = bring("folder", tmp_path / "latin.py", "--into", tmp_path / "new")
    assert (told.exit_code, "latin.py cannot be read" in told.stderr) == (2, True)
    assert not (tmp_path / "new").exists()


def test_what_is_stopped_keeps_what_it_did_and_goes_on_where_it_was(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Standing.judge

    async def interrupted(door: Standing, offer: Offer) -> Row:
        if offer.name == "twos":
            await asyncio.sleep(0.1)  # the row before this one is told
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)
        return await judge(door, offer)

    report = tmp_path / "report.json"
    with monkeypatch.context() as patch:
        patch.setattr(Standing, "judge", interrupted)
        told = bring("folder", mine, "--into", tmp_path / "new", "--report", report)
    assert (told.exit_code, "stopped after 2 of 3" in told.stderr) == (130, True), told.output
    assert len(json.loads(report.read_text(encoding="utf-8"))["rows"]) == 2
    rows = rows_of(bring("folder", mine, "--into", tmp_path / "new", "--json"))
    assert {name: row["before"] for name, row in rows.items()} == {
        "broken": True, "counting/large": True, "twos": False,
    }  # fmt: skip


def test_a_package_that_is_not_installed_holds_back_only_what_needs_it(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = write_checkout(tmp_path / "rlve", "WithPackage", "NoReference")
    monkeypatch.setattr(importing, "find_spec", lambda name: None)
    told = bring("rlve", checkout, "--into", tmp_path / "new", "--json")
    rows = rows_of(told)
    assert (rows["rlve/WithPackage"]["ended"], rows["rlve/NoReference"]["gate"]) == ("undecided", "L2")
    assert "needs networkx, which is not installed" in rows["rlve/WithPackage"]["reason"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["folder", "nowhere"], "nowhere holds no environments"),
        (["rlve", "nowhere"], "an RLVE-Gym checkout has it"),
        (["reasoning-gym", "word_sortin"], "did you mean 'word_sorting'"),
        (["folder", "mine", "two"], "did you mean 'twos'"),
        (["folder", "mine", "--report", "no/where.json"], "there is no folder no"),
        (["folder", "mine", "--report", "mine"], "--report mine is no file but a folder"),
        (["folder", "mine", "--report", "/proc/report.json"], "--report /proc/report.json cannot be written"),
        (["folder", "mine", "--package", "no-name"], "a package is written as name or name=folder"),
    ],
)
def test_what_cannot_be_read_ends_with_one_line_and_code_two(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], word: str
) -> None:
    monkeypatch.chdir(tmp_path)
    told = bring(*arguments, "--into", "new")
    assert (told.exit_code, word in told.stderr, len(told.stderr.splitlines())) == (2, True, 1), told.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("into", ["/proc/nope/new", "mine/twos.py/new", "n" * 300])
def test_a_place_that_can_hold_no_pool_ends_with_one_line_that_asks_for_another(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: str
) -> None:
    monkeypatch.chdir(tmp_path)
    told = bring("folder", mine, "--into", into)
    assert (told.exit_code, len(told.stderr.splitlines())) == (2, 1), told.stderr
    assert into in told.stderr and "another folder" in told.stderr


def test_a_report_that_cannot_be_written_after_all_leaves_nothing_half_written_and_the_pool_as_it_is(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (report := tmp_path / "reports" / "one.json").parent.mkdir()
    monkeypatch.setattr(Path, "replace", full)
    told = bring("folder", mine, "twos", "--into", tmp_path / "new", "--report", report)
    assert (told.exit_code, "was not written (No space left" in told.stderr) == (2, True)
    assert not list(report.parent.iterdir())
    with PoolReader.open(tmp_path / "new") as pool:
        assert len(pool.ids()) == 1


class GoingRun:
    """The validator of a run that goes, as a command reaches it: it has the pool, and only it."""

    def __init__(self, pool: PoolWriter) -> None:
        self.pool = pool
        self.asked: list[tuple[str, str, bool]] = []

    def judge(self, offer: Offer, origin: Origin) -> dict[str, Any]:
        self.asked.append((offer.name, str(origin), offer.held_out))
        program = Program(offer.source, "", "", "list[int]", "int")
        if "import os" in offer.source:
            self.pool.reject(program.id, origin, "imports", "imports os", source=offer.source)
            return {"id": program.id, "admitted": False, "gate": "imports", "reason": "imports os"}
        self.pool.admit(replace(FIRST, material=program, origin=origin, held_out=offer.held_out))
        return {"id": program.id, "admitted": True, "gate": "", "reason": "passed"}


@pytest.fixture
def going(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GoingRun]:
    run = tmp_path / "runs" / "demo"
    make_pool(run)
    with PoolWriter.open(run / "pool", map_size=1 << 24) as pool:
        control = GoingRun(pool)

        @contextmanager
        def reached(*_: object) -> Iterator[GoingRun]:
            with redirect_stdout(sys.stderr):
                yield control

        # A process may open a pool once: the writer stands for the reader that the command would open beside it.
        monkeypatch.setattr(importing, "reached", reached)
        for sign in ("lives", "driven", "answers"):
            monkeypatch.setattr(importing, sign, lambda folder: True)
        monkeypatch.setattr(importing.PoolReader, "open", classmethod(lambda cls, path: _Shared(pool)))
        yield control


class _Shared:
    """An open pool that is not closed with its borrower."""

    def __init__(self, pool: PoolWriter) -> None:
        self._pool = pool

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def test_a_run_that_goes_takes_offers_in_through_its_own_validator(
    mine: Path, tmp_path: Path, going: GoingRun
) -> None:
    told = bring("folder", mine, "--folder", tmp_path / "runs", "--held-out", "--json")
    rows = rows_of(told)
    assert {name: row["ended"] for name, row in rows.items()} == {
        "broken": "rejected", "counting/large": "admitted", "twos": "admitted",
    }  # fmt: skip
    assert ("twos", "user", True) in going.asked
    again = rows_of(bring("folder", mine, "--folder", tmp_path / "runs", "--json"))
    assert (len(going.asked), again["twos"]["ended"], again["broken"]["before"]) == (3, "there", True)


def test_a_run_that_goes_without_a_package_says_how_it_gets_it(tmp_path: Path, going: GoingRun) -> None:
    checkout = write_checkout(tmp_path / "rlve", "WithPackage")
    told = bring("rlve", checkout, "--folder", tmp_path / "runs")
    assert (told.exit_code, going.asked) == (2, [])
    assert "the sandboxes of demo lack networkx" in told.stderr and "envolve stop --run demo" in told.stderr


def test_a_run_begins_with_the_programs_of_other_pools_and_keeps_what_was_set_apart(
    mine: Path, tmp_path: Path
) -> None:
    into, words = tmp_path / "new", ["pool.seeds=none", "pool.bricks=none"]
    bring("folder", mine, "twos", "--into", into, "--held-out")
    bring("folder", mine, "counting/large", "--into", into)
    programs = resolve("local", [*words, "pool.held_out=none", f"pool.imports={into}"]).programs()
    assert [(each.name, each.held_out, each.origin) for each in programs] == [
        ("counting/large", False, Origin.USER), ("twos", True, Origin.USER),
    ]  # fmt: skip
    with pytest.raises(ConfigError, match="sets every chosen program apart"):
        resolve("local", [*words, "pool.held_out=counting/*", f"pool.imports={into}"])
    with pytest.raises(ConfigError, match=r"pool\.imports: .*there is no pool at"):
        resolve("local", [f"pool.imports={tmp_path / 'nowhere'}"])


def test_a_run_is_told_which_packages_its_pool_needs_before_it_begins(tmp_path: Path) -> None:
    needs = replace(FIRST, origin=Origin.IMPORTED, evidence={"packages": ["networkx"]})
    for place in (tmp_path / "pool", tmp_path / "runs" / "demo" / "pool"):
        with PoolWriter.open(place, map_size=1 << 24) as pool:
            pool.admit(needs)
    with pytest.raises(ConfigError, match=r"sandbox\.packages=networkx"):
        resolve("local", [f"pool.imports={tmp_path / 'pool'}"])
    words = [f"run.folder={tmp_path / 'runs'}", "run.name=demo"]
    with pytest.raises(RunFolderError, match=r"sandbox\.packages=networkx"), held(resolve("local", words)):
        pass
    with held(resolve("local", [*words, "sandbox.packages=networkx"])) as folder:
        assert folder == tmp_path / "runs" / "demo"


def test_a_member_that_came_from_a_copy_of_a_shipped_program_is_not_brought_twice(tmp_path: Path) -> None:
    before = resolve("local").programs()
    shipped = before[0]
    with PoolWriter.open(tmp_path / "pool", map_size=1 << 24) as pool:
        program = Program(shipped.source, "A", "a.", "list[int]", "int")
        pool.admit(replace(FIRST, material=program, family=shipped.name))
    assert resolve("local", [f"pool.imports={tmp_path / 'pool'}"]).programs() == before


def test_renamed_code_is_a_duplicate_here_as_everywhere(mine: Path, tmp_path: Path) -> None:
    (mine / "zz_renamed.py").write_text(RENAMED, encoding="utf-8")
    rows = rows_of(
        bring("folder", mine, "counting/large", "zz_renamed", "--into", tmp_path / "new", "--json")
    )
    assert (rows["zz_renamed"]["gate"], rows["counting/large"]["ended"]) == ("duplicate", "admitted")


def test_of_two_files_with_one_text_the_second_finds_the_first_however_many_are_judged_at_once(
    tmp_path: Path,
) -> None:
    for jobs in (1, 2):
        mine, into = tmp_path / f"mine-{jobs}", tmp_path / f"new-{jobs}"
        mine.mkdir()
        for name in ("a", "b"):
            (mine / f"{name}.py").write_text(PROGRAM, encoding="utf-8")
        told = bring("folder", mine, "--into", into, "--jobs", jobs, "--json")
        ended = {name: row["ended"] for name, row in rows_of(told).items()}
        assert (told.exit_code, ended) == (0, {"a": "admitted", "b": "there"})
        with PoolReader.open(into) as pool:
            assert pool.ids(Status.REJECTED) == []


def test_the_pool_of_a_run_that_is_starting_is_left_alone(mine: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "demo"
    make_pool(run)
    with locked(run):
        told = bring("folder", mine, "twos", "--folder", tmp_path / "runs")
    assert (told.exit_code, "demo is starting" in told.stderr) == (2, True), told.stderr
    with PoolReader.open(run / "pool") as pool:
        assert pool.ids(Status.ACTIVE, Origin.USER) == []


@pytest.mark.parametrize("outlived", [False, True], ids=["no cluster", "a cluster that has the run no more"])
@pytest.mark.parametrize("by", ["--folder", "--into"])
def test_no_run_begins_to_go_while_its_pool_is_written(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outlived: bool, by: str
) -> None:
    run, judge = tmp_path / "runs" / "demo", Standing.judge
    make_pool(run)
    monkeypatch.setattr(importing, "answers", lambda folder: outlived)
    monkeypatch.setattr(importing, "_in_cluster", lambda folder, address: False)
    goes: list[bool] = []

    async def watched(door: Standing, offer: Offer) -> Row:
        goes.append(driven(run))
        return await judge(door, offer)

    monkeypatch.setattr(Standing, "judge", watched)
    told = bring("folder", mine, "twos", by, run if by == "--into" else run.parent)
    assert (told.exit_code, goes, driven(run)) == (0, [True], False), told.output


def test_a_run_without_a_driver_keeps_its_pool_for_as_long_as_its_cluster_has_it(
    mine: Path, tmp_path: Path, going: GoingRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "driven", lambda folder: False)
    monkeypatch.setattr(importing, "_in_cluster", lambda folder, address: True)
    assert bring("folder", mine, "twos", "--folder", tmp_path / "runs").exit_code == 0
    assert [name for name, _, _ in going.asked] == ["twos"]


def test_a_begun_run_needs_the_pools_that_it_began_with_no_more(mine: Path, tmp_path: Path) -> None:
    into, run = tmp_path / "new", tmp_path / "runs" / "demo"
    bring("folder", mine, "twos", "--into", into)
    words = [f"run.folder={run.parent}", "run.name=demo", f"pool.imports={into}"]
    with held(resolve("local", words)):
        make_pool(run, configured=True)
    into.rename(tmp_path / "elsewhere")
    with held(resolve(str(run / "config.yaml"))) as folder:
        assert folder == run
    (mine / "needy.py").write_text(
        PROGRAM.replace("import random", "import random\nimport numpy"), encoding="utf-8"
    )
    told = bring("folder", mine, "needy", "--package", "numpy", "--folder", run.parent)
    assert (told.exit_code, "resume the run with sandbox.packages=numpy" in told.stderr) == (0, True), (
        told.output
    )
    with pytest.raises(ConfigError, match=r"pool\.imports: .*there is no pool at"):
        resolve("local", ["run.name=other", *words[::2]])


@pytest.mark.parametrize(("runs", "there"), [(["demo", "x"], True), (["x"], False), (None, False)])
def test_a_cluster_that_answers_is_asked_whether_it_has_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: list[str] | None, there: bool
) -> None:
    @contextmanager
    def connected(*_: object) -> Iterator[None]:
        if runs is None:
            raise control.RunNotReached("nobody answers as Ray does")
        yield

    monkeypatch.setattr(control, "connected", connected)
    monkeypatch.setattr(control, "runs_in_cluster", lambda: runs)
    assert importing._in_cluster(tmp_path / "demo", "") is there
