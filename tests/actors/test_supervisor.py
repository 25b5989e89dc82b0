"""The supervisor and its keeper, on a real Ray: what is wanted comes about, whoever is killed, and a stop ends it all.

The actors that it keeps are light (`tests.simulated.light`); pool, metrics and the draining of sandboxes are real.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
import ray

from actors import roster, supervisor
from actors.supervisor import SupervisorActor
from cluster.config import Config
from envpool.store import NoPool, PoolReader
from tests.actors.conftest import ROOT, kill
from tests.simulated.light import light
from tests.simulated.runs import SimulatedRun, simulated
from tests.simulated.stream import Stream

LONG = 240.0
BROKEN = {"composer-0", "generator-0"}
"""Actors of the fixture's run that do not start at first: one dies while it is made, the start of one fails."""


@pytest.fixture(scope="module")
def run(cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedRun]:
    """A run that trains, but for what is broken in it."""
    actors = {
        "composer": "StillbornActor", "generator": "FailingActor",
        "sandbox": "MarkingSandbox", "solver": "MarkingSolver",
    }  # fmt: skip
    config = simulated("supervised", tmp_path_factory.mktemp("runs"), light(actors))
    config.run_folder.mkdir(parents=True)
    going = SimulatedRun(config)
    try:
        going.begin(LONG)
        going.until(lambda: going.status().get("phase") == "training", LONG)
        yield going
    finally:
        roster.end(config)


def begun(name: str, folder: Path, **actors: str) -> SimulatedRun:
    """A run of its own."""
    sections = {"supervision": {"orphaned_seconds": 1}, "run": {"steps": 3}}
    config = simulated(name, folder, light(actors), sections)
    config.run_folder.mkdir(parents=True)
    going = SimulatedRun(config)
    going.begin(LONG)
    return going


def wanted(config: Config) -> set[str]:
    return {post.name for post in [*roster.posts(config), roster.supervisor()]}


def started(run: SimulatedRun, name: str) -> bool:
    beat = run.ask(name, "heartbeat", seconds=2.0)
    return bool(beat and beat["started"])


class LateSupervisor(SupervisorActor):
    """Its pool is not there at the first two starts."""

    tries = 0

    async def start(self) -> None:
        self.tries += 1
        if self.tries < 3:
            raise NoPool("locked by a predecessor")


async def test_a_supervisor_starts_again_by_itself_where_no_driver_asks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(supervisor, "FAILURE_PAUSE_SECONDS", 0.0)
    late = LateSupervisor(simulated("late", tmp_path).model_dump(mode="json"), roster.SUPERVISOR)
    while not (await late.heartbeat())["started"]:
        await asyncio.sleep(0.01)
    assert late.tries == 3
    await late.stop()


def test_every_actor_that_is_wanted_is_made_whatever_is_wrong_with_others(run: SimulatedRun) -> None:
    run.until(lambda: all(started(run, name) for name in wanted(run.config) - BROKEN), LONG)


def test_a_start_that_fails_is_told_with_its_first_traceback(run: SimulatedRun) -> None:
    def told() -> tuple[int, str] | None:
        count, first = (
            (run.ask("supervisor", "health") or {}).get("failing", {}).get("start of generator-0", (0, ""))
        )
        return (count, first) if count >= 2 else None

    _, first = run.until(told, LONG)
    assert "the weights are on another disk" in first
    assert "Traceback" in first or "in start" in first


def test_an_actor_that_dies_while_it_is_made_is_made_at_ever_longer_intervals(run: SimulatedRun) -> None:
    births = run.config.run_folder / "births"
    run.until(lambda: births.exists() and len(births.read_text().split()) >= 5, LONG)
    times = [float(text) for text in births.read_text().split()]
    gaps = [after - before for before, after in pairwise(times)][:4]
    longest = run.config.supervision.longest_pause_seconds
    assert all(gap >= pause for gap, pause in zip(gaps, (0, 1, longest, longest), strict=True)), gaps


def test_what_was_broken_starts_once_its_cause_is_gone(run: SimulatedRun) -> None:
    (run.config.run_folder / "heal").touch()
    run.until(lambda: all(started(run, name) for name in BROKEN), LONG)
    run.until(lambda: not run.ask("supervisor", "health")["failing"], LONG)


@pytest.mark.parametrize("name", ["curator", "sandbox-0", "metrics", "pool", "supervisor"])
def test_an_actor_that_is_killed_comes_back_as_another_process(run: SimulatedRun, name: str) -> None:
    before = run.until(lambda: run.pids().get(name))
    kill(before)
    run.until(lambda: run.pids().get(name, before) != before and started(run, name), LONG)


def test_an_actor_whose_event_loop_hangs_is_killed_and_made_again(run: SimulatedRun) -> None:
    before = run.until(lambda: run.pids().get("novelty"))
    run.actor("novelty").hang.remote()
    run.until(lambda: run.pids().get("novelty", before) != before and started(run, "novelty"), LONG)
    assert not psutil.pid_exists(before)
    assert "novelty hangs" in run.ask("supervisor", "health")["first_failures"]


def test_paused_nobody_works_and_resumed_everybody_does(run: SimulatedRun) -> None:
    run.until(lambda: run.ask("curator", "is_working"))
    run.ask("supervisor", "pause")
    assert run.ask("curator", "is_working") is False
    assert run.ask("supervisor", "overview")["wanted"]["paused"]
    run.ask("supervisor", "resume")
    assert run.ask("curator", "is_working") is True


@pytest.mark.parametrize("kind, sizes", [("sandbox", (2, 12, 3)), ("solver", (1, 2, 1))])
async def test_actors_are_scaled_up_and_down_under_load_and_each_job_is_done_once(
    run: SimulatedRun, kind: str, sizes: tuple[int, ...]
) -> None:
    stream = Stream(run, kind)
    await stream.over(*sizes)
    assert stream.results == stream.expected()
    assert set(stream.executions().values()) == {1}
    assert set(stream.executions()) == set(stream.results)


def test_a_successor_finishes_what_a_killed_supervisor_began(run: SimulatedRun) -> None:
    run.ask("supervisor", "scale", {"sandbox": 5})
    kill(run.pids()["supervisor"])
    run.until(lambda: all(started(run, f"sandbox-{index}") for index in range(5)), LONG)
    run.until(lambda: run.ask("supervisor", "scale", {"sandbox": 1}), LONG)
    kill(run.pids()["supervisor"])
    run.until(lambda: [name for name in run.pids() if name.startswith("sandbox-")] == ["sandbox-0"], LONG)


def test_a_supervisor_adopts_what_lives(run: SimulatedRun) -> None:
    before = {name: pid for name, pid in run.pids().items() if name != "supervisor"}
    kill(before_it := run.pids()["supervisor"])
    run.until(
        lambda: run.pids().get("supervisor", before_it) != before_it and started(run, "supervisor"), LONG
    )
    run.until(lambda: (run.ask("supervisor", "overview") or {}).get("nodes"), LONG)
    assert {name: pid for name, pid in run.pids().items() if name != "supervisor"} == before


STOP = """
import os, sys, ray
ray.init(address=sys.argv[1], log_to_driver=False)
answer = ray.get_actor("supervisor", sys.argv[2]).stop_run.remote()
ray.wait([answer], timeout=1)
os._exit(9)
"""


@pytest.mark.parametrize("dies_too", [False, True], ids=["caller", "caller and supervisor"])
def test_a_stop_drains_saves_and_ends_every_process_whoever_dies(
    cluster: None, tmp_path: Path, dies_too: bool
) -> None:
    run = begun(f"stopped-{dies_too}", tmp_path)
    run.until(lambda: run.status().get("phase") == "training", LONG)
    pids = run.until(lambda: (now := run.pids()).keys() >= wanted(run.config) and now, LONG)
    address = ray.get_runtime_context().gcs_address
    stopping = subprocess.run(
        [sys.executable, "-c", STOP, address, run.config.namespace], cwd=ROOT, check=False, timeout=LONG
    )
    assert stopping.returncode == 9
    if dies_too:
        kill(pids["supervisor"])
    run.until(lambda: not roster.present(run.config), LONG)
    run.until(lambda: not any(psutil.pid_exists(pid) for pid in pids.values()), LONG)
    with PoolReader.open(run.config.pool_folder) as pool:
        assert pool.state("draining") and pool.state("saved")


def test_a_finished_run_that_nobody_drives_ends_itself(cluster: None, tmp_path: Path) -> None:
    run = begun("finished", tmp_path, learner="FinishedLearner")
    run.until(lambda: not roster.present(run.config), LONG)
    with PoolReader.open(run.config.pool_folder) as pool:
        assert pool.state("phase") == "done"


def test_a_policy_that_cannot_save_does_not_keep_the_run_from_saving_and_ending(
    cluster: None, tmp_path: Path
) -> None:
    run = begun("unsaved", tmp_path, learner="UnsavedRivalLearner")
    run.until(lambda: run.status().get("phase") == "training", LONG)
    run.ask("supervisor", "attach", {"name": "rival", "model": str(tmp_path), "trainable": True})
    run.until(lambda: started(run, "rival.learner"), LONG)
    with pytest.raises(OSError, match="no space left"):
        ray.get(run.actor("supervisor").checkpoint.remote(), timeout=LONG)
    ray.get(run.actor("supervisor").stop_run.remote(), timeout=LONG)
    run.until(lambda: not roster.present(run.config), LONG)
    with PoolReader.open(run.config.pool_folder) as pool:
        assert pool.state("saved")


def test_sandboxes_end_after_those_who_have_something_recomputed_and_before_numbers_and_pool() -> None:
    there = ["pool", "sandbox-1", "solver-0", "metrics", "guest.solver-0", "sandbox-0", "calibrator"]
    assert supervisor.in_order(there) == [
        ["solver-0", "guest.solver-0", "calibrator"],
        ["sandbox-1", "sandbox-0"],
        ["metrics"],
        ["pool"],
    ]
