"""A whole run that is killed, piece by piece and at one stroke, interrupted and resumed, until it ends.

vLLM, verl, Ray, LMDB, MiniLM and the sandbox are real, on SmolLM2-135M. Nothing here stands in for a component.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import psutil
import pytest

from tests.runs import TINY, RunFolder, descendants, ending_what_is_left, kill_all, left_of

pytestmark = pytest.mark.timeout(1500)  # a hang, not slowness: two quiet cores need a third of it


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Whatever a failing test leaves running is ended."""
    with ending_what_is_left():
        yield


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
