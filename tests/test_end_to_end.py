"""The whole loop, for real: vLLM, verl, Ray, LMDB, MiniLM and the sandbox, on SmolLM2-135M.

One run is submitted to a Ray cluster as a job and seen to its end; another one is killed, piece by piece and as a
whole, interrupted and resumed, until it ends as well. Nothing here stands in for a component.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
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
from tests.runs import (
    ROOT,
    TINY,
    RunFolder,
    adopt_orphans,
    descendants,
    envolve,
    kill_all,
    left_of,
)

pytestmark = pytest.mark.timeout(1500)  # a hang, not slowness: two quiet cores need a third of it
STEPS = 3
SCRATCH = Path(tempfile.gettempdir())


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Whatever a failing test leaves running is ended, and nothing else."""
    adopt_orphans()
    before = set(descendants())
    yield
    kill_all([process for process in descendants() if process not in before])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# ---------------------------------------------------------------------------------------------------------------
# A run that is submitted as a job and seen to its end
# ---------------------------------------------------------------------------------------------------------------


@dataclass
class Submitted:
    """What was seen of it."""

    folder: RunFolder
    code: int
    output: str
    left: list[str]
    seen: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[str]:
    """A Ray head of its own, with its dashboard; yields the dashboard's address."""
    port, dashboard, agent = free_port(), free_port(), free_port()
    with tempfile.TemporaryDirectory(prefix="ev", dir=SCRATCH, ignore_cleanup_errors=True) as scratch:
        head = subprocess.Popen(
            [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", f"--port={port}",
             f"--dashboard-port={dashboard}", f"--dashboard-agent-listen-port={agent}", "--num-cpus=2",
             f"--ray-client-server-port={free_port()}", f"--temp-dir={scratch}", "--disable-usage-stats"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        address = f"http://127.0.0.1:{dashboard}"
        yield address
        head.terminate()
        head.wait(60)


@pytest.fixture(scope="module")
def submitted(ray_cluster: str, tmp_path_factory: pytest.TempPathFactory) -> Submitted:
    """A run of a few updates through `ray job submit`, looked into from other processes while it goes."""
    settings = {**TINY, "run": {"audit": True, "steps": STEPS}}
    folder = RunFolder(tmp_path_factory.mktemp("runs"), "job", settings)
    wait_for_dashboard(ray_cluster)
    before = set(descendants())
    with folder.log.open("w") as log:
        job = subprocess.Popen(
            [str(Path(sys.executable).with_name("ray")), "job", "submit", "--address", ray_cluster,
             "--working-dir", str(ROOT), "--", sys.executable, "launch.py", *folder.command],
            stdout=log, stderr=subprocess.STDOUT, text=True, cwd=ROOT,
        )  # fmt: skip
    seen: dict[str, subprocess.CompletedProcess[str]] = {}
    where = ("--run", "job", "--folder", str(folder.root))
    folder.until(lambda: folder.status().get("phase") == "training", job)
    seen["status"] = envolve("status", *where)
    seen["ls"] = envolve("pool", "ls", *where, "--json")
    seen["show"] = envolve("pool", "show", json.loads(seen["ls"].stdout)[0]["id"], *where)
    code = job.wait(400)
    left = left_of_the_run(before)
    folder.drop_weights()
    return Submitted(folder, code, folder.log.read_text(), left, seen)


def left_of_the_run(before: set[psutil.Process]) -> list[str]:
    """What the run made and did not end; Ray's own idle workers, which wait for the next job, are not the run's."""
    deadline = time.monotonic() + 20
    while True:
        made = [line for line in left_of(before, 0) if re.search("ray::(?!IDLE)|VLLM|envpool|launch", line)]
        made = [
            line
            for line in made
            if not re.search("ray::(DashboardAgent|RuntimeEnvAgent|JobSupervisor)", line)
        ]
        if not made or time.monotonic() > deadline:
            return made
        time.sleep(0.5)


def wait_for_dashboard(address: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    deadline = time.monotonic() + 120
    while True:
        try:
            with socket.create_connection((host, int(port)), timeout=1):
                return
        except OSError:
            assert time.monotonic() < deadline, "the Ray dashboard did not come up"
            time.sleep(0.5)


@pytest.fixture(scope="module")
def pool(submitted: Submitted) -> PoolReader:
    return submitted.folder.pool


@pytest.fixture(scope="module")
def rows(submitted: Submitted) -> list[dict[str, Any]]:
    """Every sample that was trained on."""
    files = sorted((submitted.folder.path / "samples").glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


def test_a_submitted_run_ends_well_and_leaves_no_process(submitted: Submitted) -> None:
    assert submitted.code == 0, submitted.folder.tail()
    assert submitted.folder.status()["phase"] == "done"
    assert submitted.left == []


def test_every_update_is_in_the_metrics_with_ratio_and_mismatch(submitted: Submitted) -> None:
    steps = submitted.folder.lines("step")
    assert [record["step"] for record in steps] == list(range(1, STEPS + 1))
    assert [record["version"] for record in steps] == list(range(1, STEPS + 1))
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
    bound = resolve(str(submitted.folder.path / "config.yaml")).learner.max_staleness
    for record in submitted.folder.lines("step"):
        assert 0 <= record["staleness_max"] <= bound
    for row in rows:
        assert 0 <= row["step"] - 1 - row["version_low"] <= bound


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
    printed = submitted.output
    for words in ("training families", "families set apart whole", "success", "well-formed", "95 % interval"):
        assert words in printed
    assert re.search(r"[+-]0\.\d{3} to [+-]\d\.\d{3}", printed)


def test_status_and_pool_can_be_looked_into_while_it_runs(submitted: Submitted) -> None:
    status, listed, shown = (submitted.seen[name] for name in ("status", "ls", "show"))
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


# ---------------------------------------------------------------------------------------------------------------
# A run that is killed, piece by piece and as a whole, interrupted, and resumed to its end
# ---------------------------------------------------------------------------------------------------------------

LONG = 7
CHECKPOINT_EVERY = 2
REST = (
    "supervisor", "pool", "buffer", "learner", "curator", "validator", "novelty", "composer-0", "generator-0",
    "metrics",
)  # fmt: skip
"""All that is not killed by itself; they are killed at one stroke."""


@dataclass
class Survivor:
    """What was seen of it, in order."""

    folder: RunFolder
    pids: dict[str, list[int]] = field(default_factory=dict)
    after_rank_loss: dict[str, Any] = field(default_factory=dict)
    admitted_before_kill: set[str] = field(default_factory=set)
    answers_before_kill: int = 0
    checkpoint_before_kill: dict[str, Any] = field(default_factory=dict)
    steps_before_kill: list[dict[str, Any]] = field(default_factory=list)
    steps_before_interrupt: list[dict[str, Any]] = field(default_factory=list)
    interrupted: int = 0
    checkpoint_after_interrupt: dict[str, Any] = field(default_factory=dict)
    left_after_interrupt: list[str] = field(default_factory=list)
    code: int = 0
    left: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def survivor(tmp_path_factory: pytest.TempPathFactory) -> Survivor:
    settings = {
        **TINY,
        "run": {"audit": True, "steps": LONG},
        "learner": {**TINY["learner"], "checkpoint_every": CHECKPOINT_EVERY},
        "evaluation": {"enabled": False},
    }
    seen = Survivor(RunFolder(tmp_path_factory.mktemp("runs"), "killed", settings))
    before = set(descendants())
    lose_one_after_the_other(seen, run := seen.folder.start())
    lose_everything(seen, run, before)
    resume_and_interrupt(seen, before)
    resume_to_the_end(seen, before)
    seen.folder.drop_weights()
    return seen


def lose_one_after_the_other(seen: Survivor, run: subprocess.Popen[str]) -> None:
    folder = seen.folder
    await_updates(folder, run, 1)
    lose(seen, run, "sandbox-0")
    await_updates(folder, run, 2)
    solver = psutil.Process(pid_of(folder, "solver-0"))
    engine = next(child for child in solver.children(recursive=True) if "EngineCore" in joined(child))
    lose(seen, run, "solver-0", victim=engine)
    await_updates(folder, run, 3)
    rank = next(process for process in descendants() if "ray::LearnerWorker" in joined(process))
    rank.kill()
    await_updates(folder, run, 4)
    seen.after_rank_loss = folder.lines("step")[3]
    lose(seen, run, *REST)
    await_updates(folder, run, 5)


def joined(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def lose(
    seen: Survivor, run: subprocess.Popen[str], *names: str, victim: psutil.Process | None = None
) -> None:
    """kill -9 of the actors, or of the process that one of them lives by; and the actors that come back."""
    old = {name: pid_of(seen.folder, name) for name in names}
    kill_all([victim] if victim else [psutil.Process(pid) for pid in old.values()])
    for name in names:
        new = seen.folder.until(
            lambda name=name: (pid := pid_of(seen.folder, name)) != old[name] and pid, run
        )
        seen.pids[name] = [old[name], new]


def pid_of(folder: RunFolder, name: str) -> int:
    return int(folder.status()["actors"].get(name, {}).get("pid", 0))


def await_updates(folder: RunFolder, run: subprocess.Popen[str], count: int) -> None:
    folder.until(lambda: len(folder.lines("step")) >= count, run)


def lose_everything(seen: Survivor, run: subprocess.Popen[str], before: set[psutil.Process]) -> None:
    folder = seen.folder
    seen.steps_before_kill = folder.lines("step")
    seen.checkpoint_before_kill = folder.pool.state("checkpoint")
    seen.admitted_before_kill = {entry.id for entry in folder.journal("admit")}
    seen.answers_before_kill = answers_of(folder)
    kill_all([process for process in descendants() if process not in before])
    run.wait(30)
    kill_all([process for process in descendants() if process not in before])  # what was born meanwhile
    assert left_of(before) == []


def answers_of(folder: RunFolder) -> int:
    return sum(c.attempts for levels in folder.pool.all_stats("main").values() for c in levels.values())


def resume_and_interrupt(seen: Survivor, before: set[psutil.Process]) -> None:
    run = seen.folder.start()
    await_updates(seen.folder, run, len(seen.steps_before_kill) + 1)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does it: the whole foreground group gets it
    seen.interrupted = run.wait(240)
    seen.left_after_interrupt = left_of(before)
    seen.steps_before_interrupt = seen.folder.lines("step")
    seen.checkpoint_after_interrupt = seen.folder.pool.state("checkpoint")


def resume_to_the_end(seen: Survivor, before: set[psutil.Process]) -> None:
    seen.code = seen.folder.start().wait(400)
    seen.left = left_of(before)


def test_actors_that_are_killed_come_back_as_new_processes(survivor: Survivor) -> None:
    assert set(survivor.pids) == {"sandbox-0", "solver-0", *REST}
    assert all(old != new for old, new in survivor.pids.values())


def test_a_lost_learner_rank_puts_the_run_back_to_its_checkpoint(survivor: Survivor) -> None:
    fallback = survivor.folder.lines("fallback")[0]
    assert fallback["step"] == CHECKPOINT_EVERY and fallback["was"] == 3
    assert fallback["reopened"] >= 2, "what was trained after the checkpoint waits again"
    assert survivor.after_rank_loss["step"] == CHECKPOINT_EVERY + 1
    assert survivor.after_rank_loss["version"] > fallback["version"] > fallback["was"]


def test_a_run_that_was_killed_whole_goes_on_from_its_checkpoint(survivor: Survivor) -> None:
    checkpoint, steps = survivor.checkpoint_before_kill, survivor.folder.lines("step")
    resumed = steps[len(survivor.steps_before_kill)]
    assert resumed["step"] == checkpoint["step"] + 1
    assert resumed["version"] > survivor.steps_before_kill[-1]["version"]


def test_ctrl_c_drains_saves_and_leaves_no_process(survivor: Survivor) -> None:
    assert survivor.interrupted == 130, survivor.folder.tail()
    assert survivor.checkpoint_after_interrupt["step"] == survivor.steps_before_interrupt[-1]["step"]
    assert survivor.left_after_interrupt == []
    assert "is saved. The same command" in " ".join(survivor.folder.log.read_text().split())


def test_the_interrupted_run_resumes_where_it_was_saved_and_ends_well(survivor: Survivor) -> None:
    assert survivor.code == 0, survivor.folder.tail()
    steps = survivor.folder.lines("step")
    resumed = steps[len(survivor.steps_before_interrupt) :]
    saved = survivor.checkpoint_after_interrupt["step"]
    assert [record["step"] for record in resumed] == list(range(saved + 1, LONG + 1))
    assert survivor.folder.status()["phase"] == "done"
    assert survivor.left == []


def test_versions_only_rise(survivor: Survivor) -> None:
    versions = [record["version"] for record in survivor.folder.lines("step")]
    assert versions == sorted(set(versions))


def test_no_member_is_lost_or_admitted_twice(survivor: Survivor) -> None:
    admissions = Counter(entry.id for entry in survivor.folder.journal("admit"))
    assert set(admissions.values()) == {1}
    assert set(survivor.folder.pool.ids()) == set(admissions)
    assert survivor.admitted_before_kill and survivor.admitted_before_kill <= set(admissions)


def test_counters_go_on_from_where_they_were(survivor: Survivor) -> None:
    assert 0 < survivor.answers_before_kill < answers_of(survivor.folder)


def test_no_actor_saw_pool_source_compiled_in_a_run_of_kills_and_restarts(survivor: Survivor) -> None:
    reports = survivor.folder.status()["actors"]
    assert {name: report["audit"] for name, report in reports.items() if report["audit"]} == {}
