"""What `envolve import` brought, in a run: it is asked in sandboxes that have its package, scored and counted, and what
is set apart is evaluated on and nothing else; a run that goes takes more in, through its own validator.

The commands are a user's own; pool, gates, sandboxes, curator, composer and supervisor are a run's, and so is the
scorer of reasoning-gym. Simulated are the policy, which can do some of the sums, the learner and embeddings.
"""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from cluster.cli import app
from envpool.answer_counts import Counts
from envpool.bricks import read_bricks
from envpool.members import BROUGHT, Composite, Member, Origin, Program, Status
from tests.runs import RunFolder, ending_what_is_left, envolve
from tests.simulated.runs import QUICK, merged

PROGRAM = """\
import random

from envpool import Environment


class {name}(Environment):
    rule = "The input is a list of different integers. Give {what}."

    def sample(self, rng: random.Random, level: int) -> list[int]:
        return rng.sample(range(100), 3 + 2 * level)

    def solve(self, x: list[int]) -> int:
        return {how}
"""
SECOND = PROGRAM.format(name="Second", what="the largest but one", how="sorted(x)[-2]")
SPREAD = PROGRAM.format(name="Spread", what="the largest minus the smallest", how="max(x) - min(x)")
LATER = PROGRAM.format(name="Later", what="the sum of the first and the last", how="x[0] + x[-1]")
NEEDY = PROGRAM.replace("import random\n", "import random\n\nimport networkx\n", 1).format(
    name="Needy", what="how many there are", how="networkx.path_graph(x).number_of_nodes()"
)
GYM = "reasoning-gym"
BITS, LEGS, GCD, DICE = (f"{GYM}/{task}" for task in ("count_bits", "leg_counting", "gcd", "dice"))
SETTINGS: dict[str, Any] = {
    "run": {
        "actors": {
            "solver": "tests.simulated.reckoning:ReckoningSolver",
            "validator": "actors.validator:ValidatorActor",  # the command asks it, and knows no class of tests
        }
    },
    "sandbox": {"packages": ["reasoning_gym"], "audit_share": 0.5, "count": 1},
    "generator": {"enabled": False},
    "grammar": {"enabled": False},
    "pool": {
        "seeds": "none", "bricks": ["strings/upper_case", "lists/first_number", "lists/last_number"],
        "held_out": ["mine/spread", "lists/last_number"],
    },
}  # fmt: skip


class ImportingRun:
    """A run that began with a pool of imports."""

    def __init__(self, folder: RunFolder, driver: subprocess.Popen[str]) -> None:
        self.folder, self._driver = folder, driver

    @property
    def which(self) -> list[str]:
        """The arguments of every command that means it."""
        return ["--run", self.folder.name, "--folder", str(self.folder.root)]

    def until(self, condition: Callable[[], Any]) -> Any:
        return self.folder.until(condition, self._driver, 120)

    def brought(self, *what: str) -> dict[str, dict[str, Any]]:
        """What `envolve import` says of each that is brought into this run while it goes."""
        told = envolve("import", *what, *self.which, "--json")
        assert told.returncode == 0, told.stderr
        return {row["name"]: row for row in map(json.loads, told.stdout.splitlines())}

    def imports(self) -> dict[str, Member]:
        """By name, those of the pool that somebody brought."""
        members = map(self.folder.pool.get, self.folder.pool.ids())
        return {each.family: each for each in members if each and each.origin in BROUGHT}

    def counts(self, name: str) -> Counts:
        """The policy's answers to one of them, at all levels."""
        levels = self.folder.pool.all_stats("main").get(self.imports()[name].id, {})
        return sum(levels.values(), Counts())

    def trained(self) -> set[str]:
        """Ids of all members whose answers an update was made of."""
        files = (self.folder.path / "samples").glob("*.parquet")
        return {id for file in files for id in pq.read_table(file)["member"].to_pylist()}

    def evaluated(self, kind: str) -> set[str]:
        """Ids of the members whose questions are asked before the first update and after the last."""
        return {recipe["member"] for recipe in self.folder.pool.state("evaluation:questions")[kind]}

    def composed(self) -> set[str]:
        """Ids of all members that something is composed of."""
        pool = self.folder.pool
        materials = (member.material for member in map(pool.get, pool.ids(origin=Origin.COMPOSER)) if member)
        return {part for each in materials if isinstance(each, Composite) for part in each.parts}

    def is_learnt(self, *names: str) -> bool:
        """Whether these are asked, with and without success, and trained on."""
        known = self.imports()
        counts = [self.counts(name) for name in names]
        mixed = all(0 < each.successes < each.attempts for each in counts)
        return mixed and self.trained() >= {known[name].id for name in names}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImportingRun]:
    """One that goes."""
    folder = tmp_path_factory.mktemp("runs")
    made, pool = folder / "environments", str(folder / "imported")
    write(made / "mine" / "second.py", SECOND)
    write(made / "mine" / "spread.py", SPREAD)
    write(made / "mine" / "shout.py", shipped("strings/upper_case").replace("UpperCase", "Shout"))
    for what in (["folder", str(made)], [GYM, "count_bits", "leg_counting"]):
        told = CliRunner().invoke(app, ["import", *what, "--into", pool])
        assert told.exit_code == 0, told.stderr
    (folder / "model").mkdir()
    place = {"policy": {"model": str(folder / "model")}, "pool": {"imports": [pool]}}
    with ending_what_is_left():
        found = RunFolder(folder, "importing", merged(merged(QUICK, SETTINGS), place))
        driver = found.start()
        going = ImportingRun(found, driver)
        going.until(lambda: found.status().get("phase") == "training")
        yield going
        driver.send_signal(signal.SIGINT)
        driver.wait(120)


def shipped(brick: str) -> str:
    """The source of a brick that the run begins with, so that a copy of it has no place there."""
    ((_, source),) = read_bricks([brick])
    return source


def write(path: Path, source: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")


def test_what_a_run_began_with_is_asked_scored_counted_and_trained_on(run: ImportingRun) -> None:
    run.until(lambda: run.is_learnt("mine/second", BITS))
    bits, second = run.imports()[BITS], run.imports()["mine/second"]
    assert (bits.origin, bits.evidence["packages"]) == (Origin.IMPORTED, ["reasoning_gym"])
    assert (bits.may_use_packages, second.may_use_packages) == (True, False)
    assert run.counts(BITS).failures == 0


def test_what_the_run_does_not_take_is_told(run: ImportingRun) -> None:
    (alarm,) = [alarm for alarm in run.folder.status()["alarms"] if alarm["kind"] == "imports"]
    assert alarm["text"].startswith("1 of what pool.imports brings fell (mine/shout): ")
    (id,) = run.folder.pool.ids(Status.REJECTED)
    assert (fallen := run.folder.pool.rejection(id)) is not None and fallen.gate == "duplicate"


def test_what_was_set_apart_is_evaluated_on_and_never_trained_on_nor_composed(run: ImportingRun) -> None:
    run.until(lambda: run.is_learnt("mine/second", BITS))
    pool, apart = run.folder.pool, {run.imports()[name].id for name in (LEGS, "mine/spread")}
    assert all(pool.status_row(id).held_out for id in apart)  # type: ignore[union-attr]
    assert run.evaluated("held_out_families") >= apart
    assert run.evaluated("training_families") >= {run.imports()[name].id for name in (BITS, "mine/second")}
    known = run.evaluated("training_families") | pool.all_stats("main").keys() | run.trained()
    assert not apart & (known | run.until(run.composed))


def test_a_run_that_goes_takes_more_in_and_asks_it(run: ImportingRun, tmp_path: Path) -> None:
    write(tmp_path / "mine" / "later.py", LATER)
    rows = run.brought("folder", str(tmp_path)) | run.brought(GYM, "gcd", "dice")
    assert {name: (row["ended"], row["held_out"]) for name, row in rows.items()} == {
        "mine/later": ("admitted", False), GCD: ("admitted", False), DICE: ("admitted", True),
    }  # fmt: skip
    pool = run.folder.pool
    assert {pool.status(row["id"]) for row in rows.values()} == {Status.ACTIVE}
    run.until(lambda: run.is_learnt(GCD) and run.counts("mine/later").attempts)
    assert rows[DICE]["id"] not in pool.all_stats("main").keys() | run.trained()


def test_a_run_that_goes_refuses_what_needs_a_package_that_its_sandboxes_lack(
    run: ImportingRun, tmp_path: Path
) -> None:
    write(tmp_path / "needy.py", NEEDY)
    told = envolve("import", "folder", str(tmp_path), "--package", "networkx", *run.which)
    assert told.returncode == 2
    assert "the sandboxes of importing lack networkx, and a run that goes gets no other ones" in told.stderr
    assert "envolve stop --run importing" in told.stderr
    assert run.folder.pool.status(Program(NEEDY, "", "", "", "").id) is None


def test_audits_agree_with_what_was_brought_and_nothing_broke(run: ImportingRun) -> None:
    def audited() -> float:
        actors = run.folder.status().get("actors", {})
        return sum(report["gauges"].get("audits_agreed", 0) for report in actors.values())

    run.until(lambda: audited() > 0)
    assert run.folder.pool.ids(Status.QUARANTINED) == []
    assert not [alarm for alarm in run.folder.status()["alarms"] if alarm["kind"] == "audit"]
