"""The whole loop, for real: vLLM, verl, Ray, LMDB, MiniLM and the sandbox, on SmolLM2-135M.

One run is submitted as a job to a cluster that asks for a token and whose nodes lack this project, stopped, taken up
by the same command and seen to its end. Nothing here stands in for a component.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import secrets
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from actors import roster
from cluster.resolve import resolve
from envpool.contract import Recipe
from envpool.execution import Examiner
from envpool.members import Composite, Member, Origin
from envpool.sandbox import LocalExecutor
from envpool.split import is_held_out
from envpool.store import PoolReader
from tests.heads import ROOT, Head, bare_python, head
from tests.runs import ending_what_is_left, envolve
from tests.submitting import COMMAND, STEPS, STOPPED_AFTER, Submitted, cloned, submit, submitted_run

pytestmark = pytest.mark.timeout(1500)  # a hang, not slowness: two quiet cores need a third of it


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Whatever a failing test leaves running is ended."""
    with ending_what_is_left():
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home folder of the account that the cluster runs under."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def cluster(home: Path) -> Iterator[Head]:
    """A head that asks for a token, and whose Python has all that the project needs, but not the project."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    with head(
        bare_python(home / "python"), HOME=str(home), XDG_CACHE_HOME=cache,
        RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32),
    ) as running:  # fmt: skip
        yield running


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cloned(tmp_path_factory.mktemp("clone"))


@pytest.fixture(scope="module")
def submitted(cluster: Head, clone: Path, home: Path) -> Submitted:
    return submitted_run(cluster, clone, home)


@pytest.fixture(scope="module")
def pool(submitted: Submitted) -> PoolReader:
    return submitted.folder.pool


@pytest.fixture(scope="module")
def rows(submitted: Submitted) -> list[dict[str, Any]]:
    """Every sample that was trained on."""
    files = sorted((submitted.folder.path / "samples").glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


@pytest.mark.parametrize("token", ["", "00" * 32])
def test_a_submission_without_the_clusters_token_is_refused(
    token: str, cluster: Head, clone: Path, tmp_path: Path
) -> None:
    # A token of this machine's own user may lie in its home folder.
    done = submit(cluster, clone, f"refused-{len(token)}", "true", RAY_AUTH_TOKEN=token, HOME=str(tmp_path))
    assert done.returncode != 0
    assert re.search("(?i)token", done.stdout + done.stderr)


def test_control_without_the_clusters_token_is_refused(cluster: Head, tmp_path: Path) -> None:
    done = cluster.envolve("pause", "--run", "job", RAY_AUTH_TOKEN="00" * 32, HOME=str(tmp_path))
    assert done.returncode == 1
    assert "token" in done.stderr


def test_the_projects_plugin_is_on_the_path_of_the_engine(submitted: Submitted) -> None:
    assert len(submitted.plugins) == 1
    assert "py_modules_files" in submitted.plugins[0]


def test_the_jobs_log_shows_the_run(submitted: Submitted) -> None:
    assert f"starting run job in {submitted.folder.path}" in " ".join(submitted.logs_of_first.split())
    assert re.search(rf"training: step \d/{STEPS}", submitted.logs_of_first)


def test_a_job_that_is_stopped_saves_and_leaves_no_process(submitted: Submitted) -> None:
    assert "stopp" in submitted.stopped
    assert submitted.phase_after_stop == "training"
    assert submitted.saved == submitted.steps_before_stop >= STOPPED_AFTER
    assert submitted.left_after_stop == []


def test_the_same_command_takes_the_run_up_where_it_was_saved_and_ends_it(submitted: Submitted) -> None:
    assert "resuming run job" in " ".join(submitted.logs_of_second.split())
    steps = [record["step"] for record in submitted.folder.lines("step")]
    assert steps == list(range(1, STEPS + 1))
    assert "Pool after" in submitted.logs_of_second


def test_the_command_is_the_readmes(clone: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    typed = " ".join(COMMAND).replace("tiny.yaml", "a100-node").replace("run.name=job", "run.name=demo")
    assert f"ray job submit --working-dir . -- {shlex.join(shlex.split(typed))}" in readme


def test_a_submitted_run_ends_well_and_leaves_no_process(submitted: Submitted) -> None:
    assert submitted.folder.status()["phase"] == "done", submitted.folder.tail()
    assert submitted.left_at_the_end == []


def test_every_update_is_in_the_metrics_with_ratio_and_mismatch(submitted: Submitted) -> None:
    steps = submitted.folder.lines("step")
    assert [record["step"] for record in steps] == list(range(1, STEPS + 1))
    assert [record["version"] for record in steps[:STOPPED_AFTER]] == list(range(1, STOPPED_AFTER + 1))
    for record in steps:
        assert 0 < record["ratio_min"] <= record["ratio_mean"] <= record["ratio_max"]
        assert math.isfinite(record["logprob_diff"])
        assert math.isfinite(record["loss"]) and record["grad_norm"] > 0


def test_learner_and_solver_agree_on_log_probabilities(submitted: Submitted) -> None:
    for record in submitted.folder.lines("step"):
        assert record["logprob_diff"] < 0.05, record
        assert record["kl"] < 0.02, record


def test_no_sample_is_older_than_the_configured_staleness(
    submitted: Submitted, rows: list[dict[str, Any]]
) -> None:
    config = resolve(str(submitted.folder.path / "config.yaml"))
    bound = config.learner.max_staleness
    steps = submitted.folder.lines("step")
    assert all(0 <= record["staleness_max"] <= max(bound, config.generator.max_staleness) for record in steps)
    versions = {record["step"]: record["version"] for record in steps}
    for row in rows:  # of solvers' groups alone
        assert 0 <= versions[row["step"]] - 1 - row["version_low"] <= bound


def test_the_samples_of_every_update_are_kept_as_parquet(rows: list[dict[str, Any]]) -> None:
    per_step = Counter(row["step"] for row in rows)
    assert set(per_step) == set(range(1, STEPS + 1))
    assert set(per_step.values()) == {2 * 4}, "two groups of four"
    for row in rows:
        assert row["prompt"] and row["tokens"] > 0
        assert 0 <= row["reward"] <= 1 and row["shaping"] in (0.0, 0.1)
        assert row["success"] == (row["reward"] == 1.0)
    spread = {row["group"]: set() for row in rows}
    for row in rows:
        spread[row["group"]].add(round(row["reward"] + row["shaping"], 6))
    assert all(len(values) > 1 for values in spread.values()), "no group without variance"


def test_the_pool_grows_by_grammar_and_composer_while_the_learner_trains(submitted: Submitted) -> None:
    during = Counter(
        str(entry.origin) for entry in submitted.folder.journal("admit") if 1 <= entry.step < STEPS
    )
    assert during["grammar"] > 0 and during["composer"] > 0, during


def test_the_policys_own_proposals_are_kept_with_gate_and_reason(
    submitted: Submitted, pool: PoolReader
) -> None:
    fallen = [entry for entry in submitted.folder.journal("reject") if entry.origin == Origin.POLICY]
    admitted = pool.ids(origin=Origin.POLICY)
    assert fallen or admitted
    assert all(entry.gate and entry.reason for entry in fallen)
    files = list((submitted.folder.path / "proposals").glob("*.parquet"))
    proposals = [row for file in files for row in pq.read_table(file).to_pylist()]
    assert len(proposals) >= len({entry.id for entry in fallen}) > 0
    for row in proposals:
        assert row["admitted"] or (row["gate"] and row["reason"])
        assert row["prompt"] and row["reply"] and row["parents"]
        assert set(row["parents"]) <= set(pool.ids())


async def test_no_held_out_question_was_trained_on(
    submitted: Submitted, pool: PoolReader, rows: list[dict[str, Any]]
) -> None:
    """Every instance is built again from its recipe, in a sandbox of this process: same prompt, right side."""
    executor = LocalExecutor()
    examiner = Examiner(executor, lambda id: found(pool, id))
    keys = {(row["member"], row["seed"], row["level"], row["attempt"]): row["prompt"] for row in rows}
    try:
        trained = {Recipe(*key): await examiner.build(Recipe(*key)) for key in keys}
        questions = pool.state("evaluation:questions")["training_families"]
        asked = [await examiner.build(Recipe.from_dict(recipe)) for recipe in questions]
    finally:
        await asyncio.to_thread(executor.close)
    for recipe, instance in trained.items():
        prompt = keys[recipe.member, recipe.seed, recipe.level, recipe.attempt]
        assert instance.prompt == prompt, "the same recipe makes the same question"
        assert not is_held_out(instance)
    assert asked and all(is_held_out(instance) for instance in asked)
    assert {instance.digest for instance in asked}.isdisjoint(i.digest for i in trained.values())


def found(pool: PoolReader, id: str) -> Member:
    member = pool.get(id)
    assert member is not None
    return member


def test_a_family_that_is_set_apart_is_never_trained_on_nor_built_on(
    pool: PoolReader, rows: list[dict[str, Any]]
) -> None:
    members = [found(pool, id) for id in pool.ids()]
    apart = {member.id for member in members if member.held_out}
    assert len(apart) == 1
    assert apart.isdisjoint(row["member"] for row in rows)
    for member in members:
        parts = member.material.parts if isinstance(member.material, Composite) else ()
        assert apart.isdisjoint((*member.parents, *parts))


def test_the_gain_on_fixed_questions_is_printed_with_its_interval(submitted: Submitted) -> None:
    events = submitted.folder.lines("evaluation")
    assert [event["label"] for event in events] == ["before", "after"]
    assert [event["sets"]["training_families"]["questions"] for event in events] == [8, 8]
    printed = submitted.logs_of_second
    for words in ("training families", "families set apart whole", "success", "well-formed", "95 % interval"):
        assert words in printed
    assert re.search(r"[+-]0\.\d{3} to [+-]\d\.\d{3}", printed)


def test_status_and_pool_can_be_looked_into_while_it_runs(submitted: Submitted) -> None:
    status, listed, shown = (submitted.looked[name] for name in ("status", "ls", "show"))
    assert (status.returncode, listed.returncode, shown.returncode) == (0, 0, 0), (
        status.stderr + listed.stderr + shown.stderr
    )
    assert "training" in status.stdout
    members = json.loads(listed.stdout)
    assert {member["by"] for member in members} >= {"seed", "brick"}
    assert members[0]["id"] in shown.stdout


def test_every_actor_reported_and_none_saw_pool_source_compiled(submitted: Submitted) -> None:
    reports = submitted.folder.status()["actors"]
    config = resolve(str(submitted.folder.path / "config.yaml"))
    assert set(reports) >= {post.name for post in [*roster.posts(config), roster.supervisor()]}
    assert {name: report["audit"] for name, report in reports.items() if report["audit"]} == {}


def test_nothing_failed_in_silence(submitted: Submitted) -> None:
    reports = submitted.folder.status()["actors"]
    assert {name: report["first_failures"] for name, report in reports.items() if report["failures"]} == {}
    assert submitted.folder.status()["alarm_counts"] == {}


def test_a_finished_run_is_not_begun_again(submitted: Submitted) -> None:
    again = envolve("run", *submitted.folder.command)
    assert again.returncode == 1
    assert "is finished" in again.stderr
