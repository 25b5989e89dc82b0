"""Policies that join and leave a run that goes: stages are simulated (`tests.simulated`), all machinery is real."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from actors import roster
from cluster.inspect.proposals import newest
from envpool.store import PoolReader
from tests.actors.conftest import kill
from tests.corpus import REPLIES
from tests.simulated.runs import SimulatedRun, simulated
from tests.training.policy.scripted_endpoint import choices, served

M = 8
LONG = 300.0


@pytest.fixture(scope="module")
def run(cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedRun]:
    """A run that has made its first updates."""
    config = simulated("joined", tmp_path_factory.mktemp("runs"))
    going = SimulatedRun(config)
    try:
        going.begin(LONG)
        going.until(lambda: going.step() >= 2, LONG)
        yield going
    finally:
        roster.end(config)


@pytest.fixture
def pool(run: SimulatedRun) -> Iterator[PoolReader]:
    with PoolReader.open(run.config.pool_folder) as reader:
        yield reader


def attach(run: SimulatedRun, name: str, **spec: Any) -> None:
    given = {"name": name, "model": run.config.policy.model, **spec}
    assert run.ask("supervisor", "attach", given)["name"] == name


def detach(run: SimulatedRun, name: str) -> set[int]:
    """Waits until no actor of it is left; the processes that it had."""
    processes = {pid for actor, pid in run.pids().items() if actor.startswith(f"{name}.")}
    run.ask("supervisor", "detach", name)
    run.until(lambda: not [actor for actor in roster.present(run.config) if actor.startswith(f"{name}.")])
    run.until(lambda: not any(psutil.pid_exists(pid) for pid in processes))
    return processes


def gauges(run: SimulatedRun, name: str) -> dict[str, float]:
    return run.status().get("actors", {}).get(name, {}).get("gauges", {})


def answers(pool: PoolReader, policy: str) -> dict[str, int]:
    """By member, at level 0."""
    return {id: levels[0].attempts for id, levels in pool.all_stats(policy).items() if 0 in levels}


def calibrated(run: SimulatedRun, name: str) -> bool:
    """A whole look at the pool found nothing due any more."""
    now = gauges(run, f"{name}.calibrator")
    return now.get("calibrated", 0) >= 5 and now["left"] == 0


def test_a_frozen_model_is_calibrated_once_on_each_member_also_when_its_calibrator_is_killed(
    run: SimulatedRun, pool: PoolReader
) -> None:
    attach(run, "frozen")
    run.until(lambda: answers(pool, "frozen"), LONG)
    kill(run.pids()["frozen.calibrator"])
    run.until(lambda: calibrated(run, "frozen"), LONG)
    counted = answers(pool, "frozen")
    assert set(counted.values()) == {M}
    assert not [id for id in counted if pool.status_row(id).held_out]  # type: ignore[union-attr]
    assert detach(run, "frozen")
    assert answers(pool, "frozen").items() >= counted.items()  # what it knew stays


def test_a_trainable_model_learns_beside_the_runs_own_and_is_saved_when_it_leaves(
    run: SimulatedRun, pool: PoolReader
) -> None:
    attach(run, "young", trainable=True)
    run.until(lambda: (pool.state("young.progress") or {"step": 0})["step"] >= 3, LONG)
    own = run.step()
    run.until(lambda: run.step() > own, LONG)
    statuses = {entry.reason for entry in pool.journal(limit=10**6) if entry.kind == "move"}
    assert detach(run, "young")
    progress, saved = pool.state("young.progress"), pool.state("young.checkpoint")
    assert saved == progress  # the last update is in its checkpoint
    assert sorted((run.config.run_folder / "policies" / "young" / "checkpoints").iterdir())
    assert answers(pool, "young") and not [reason for reason in statuses if "young" in reason]
    assert pool.state("buffer")["trained"] > 0 and pool.state("young.buffer")["trained"] >= saved["step"]
    attach(run, "young", trainable=True)  # and goes on where it was
    run.until(lambda: (pool.state("young.progress"))["step"] > progress["step"], LONG)
    assert pool.state("young.progress")["version"] > progress["version"]
    detach(run, "young")


def test_a_model_behind_an_endpoint_is_calibrated_and_its_tokens_are_counted(
    run: SimulatedRun, pool: PoolReader
) -> None:
    with served(lambda request, before: choices("<answer>1</answer>")) as endpoint:
        attach(run, "far", model="m", endpoint=endpoint.url)
        run.until(lambda: calibrated(run, "far"), LONG)
        given = answers(pool, "far")
        assert set(given.values()) == {M}
        # The report of a moment later counts them all: more members are admitted meanwhile.
        run.until(lambda: gauges(run, "far.solver-0")["requests"] >= sum(given.values()), LONG)
        assert gauges(run, "far.solver-0")["generated_tokens"] > 0
        assert "far.learner" not in run.pids()
        detach(run, "far")


def test_a_model_behind_an_endpoint_that_writes_is_not_measured_and_stops_when_it_leaves(
    run: SimulatedRun, pool: PoolReader
) -> None:
    replies = [(REPLIES / f"{name}.txt").read_text(encoding="utf-8") for name in ("gcd_sum", "refusal")]
    with served(lambda request, before: choices(*replies)) as endpoint:
        attach(run, "author", model="m", endpoint=endpoint.url, writes=True, solves=False)
        rows = run.until(lambda: [row for row in newest(run.config.run_folder) if row["writer"] == "author"], LONG)
        assert "reply" in {row["gate"] for row in rows}
        run.until(lambda: gauges(run, "author.generator-0").get("policy_written", 0) >= 4, LONG)
        assert gauges(run, "author.solver-0")["generated_tokens"] > 0
        assert "author.calibrator" not in run.pids() and not answers(pool, "author")
        [spec] = [row for row in run.ask("supervisor", "policies") if row["name"] == "author"]
        assert (spec["writes"], spec["solves"], spec["trainable"]) == (True, False, False)
        assert detach(run, "author")
        asked = len(endpoint.requests)
        step = run.step()
        run.until(lambda: run.step() > step + 1, LONG)
        assert len(endpoint.requests) == asked
    groups = run.config.run_folder / "ledger"
    assert not [path for path in groups.glob("author.generator*") if '"offer"' in path.read_text(encoding="utf-8")]
    assert not [key for key in run.ask("pool", "groups", "author.generator") if key]


def test_a_policy_that_cannot_start_says_why_and_ends_no_run(run: SimulatedRun) -> None:
    attach(run, "keyless", model="m", endpoint="http://127.0.0.1:9/v1", key_env="KEY_THAT_IS_NOT_SET")

    def told() -> list[str]:
        failures = run.status()["actors"].get("supervisor", {}).get("first_failures", {})
        return [trace for trace in failures.values() if "KEY_THAT_IS_NOT_SET" in trace]

    assert run.until(told, LONG)
    step = run.step()
    run.until(lambda: run.step() > step + 1, LONG)
    assert not any(report.get("failing") for report in run.status()["actors"].values())
    detach(run, "keyless")


def test_solvers_that_come_and_go_lose_no_group(run: SimulatedRun, pool: PoolReader) -> None:
    run.ask("supervisor", "scale", {"solver": 2})
    run.until(lambda: gauges(run, "solver-1").get("groups", 0) > 3, LONG)
    assert gauges(run, "solver-1")["version"] > 0
    run.ask("supervisor", "scale", {"solver": 1})
    run.until(lambda: "solver-1" not in roster.present(run.config), LONG)
    step = run.step()
    run.until(lambda: run.step() > step + 2, LONG)
    dropped = {name for name in gauges(run, "buffer") if name.startswith("dropped: ")}
    assert dropped <= {"dropped: no variance", "dropped: stale"}
    supervisor = run.status()["actors"]["supervisor"]["first_failures"]
    assert not [what for what in supervisor if what == "solver-1 leaves"]
