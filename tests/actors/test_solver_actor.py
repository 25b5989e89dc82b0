"""The solver actor with a simulated engine (`tests.simulated`): weights, leaving, and what it does with failures."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from actors import solver
from actors.peers import Peers
from actors.roster import Post
from actors.solvers import SolverLeaving
from cluster.config import Config
from cluster.wanted import PolicySpec, attached, first
from envpool.members import Member, Origin, Program
from envpool.shipped import shipped
from tests.actors.conftest import Raise
from tests.actors.scripted_curator import CURATOR
from tests.simulated.engine import SimulatedEngine
from tests.simulated.solver import SimulatedSolver
from training.policy.errors import PolicyEngineLost, WeightsNotShared

ALONE = "supervisor"  # an actor of this name waits for no pool when it starts


class HangingEngine(SimulatedEngine):
    """Takes requests and never answers."""

    async def check_health(self) -> None:
        raise PolicyEngineLost("the engine core is dead or hangs")


class AttachedSolver(SimulatedSolver):
    """Asked by others alone."""

    engine = HangingEngine

    async def _learns(self) -> bool:
        return False


POOL = Post("pool", "actors.pool:PoolActor")
METRICS = Post("metrics", "actors.metrics:MetricsActor")
BUFFER = Post("buffer", "actors.buffer:BufferActor")
SANDBOX = Post("sandbox-0", "actors.sandbox:SandboxActor")
SOLVER = Post("solver-0", "tests.simulated.solver:SimulatedSolver")
(SHIPPED,) = shipped("none", ("strings/upper_case",), ())
UPPER_CASE = Member(
    Program(SHIPPED.source, "UpperCase", "Write the input in upper-case letters.", "str", "str"), Origin.BRICK
)


def weights(folder: Path, version: int) -> dict[str, Any]:
    """A file that the simulated engine takes, as the pool names it."""
    path = folder / f"version-{version}.json"
    path.write_text(json.dumps({"version": version, "updates": version}))
    return {"path": str(path), "version": version}


async def begun(make: Raise, peers: Peers, *posts: Post) -> None:
    for post in (POOL, METRICS, BUFFER, SANDBOX, CURATOR, *posts):
        make(post)
    await peers.pool.put_state("phase", "training")


async def version(peers: Peers, name: str = "solver-0") -> int:
    ((sample,),) = await peers[name].generate(["a question"], 1, 8, 1.0)
    return int(sample["version_high"])


async def until(condition: Callable[[], Awaitable[Any]]) -> Any:
    async with asyncio.timeout(60):
        while not (value := await condition()):
            await asyncio.sleep(0.05)
    return value


async def test_one_that_is_added_begins_with_the_weights_that_are_live(
    make: Raise, peers: Peers, tmp_path: Path
) -> None:
    await begun(make, peers)
    await peers.pool.put_state("weights", weights(tmp_path, 7))
    make(SOLVER)
    assert await version(peers) == 7


async def test_weights_that_it_was_not_told_of_are_taken_up_all_the_same(
    make: Raise, peers: Peers, tmp_path: Path
) -> None:
    await begun(make, peers, SOLVER)
    assert await version(peers) == 0
    await peers.pool.put_state("weights", weights(tmp_path, 3))

    async def newer() -> bool:
        return await version(peers) == 3

    await until(newer)
    assert await peers["solver-0"].update_weights(weights(tmp_path, 2)["path"], 2) == 3


async def test_a_file_that_its_node_does_not_see_names_the_setting(make: Raise, peers: Peers) -> None:
    await begun(make, peers, SOLVER)
    await peers["solver-0"].ready()
    with pytest.raises(WeightsNotShared, match=r"run\.folder"):
        await peers["solver-0"].update_weights("/nowhere/version-000001.safetensors", 1)


async def test_a_member_that_has_not_reached_this_node_yet_is_waited_for(make: Raise, peers: Peers) -> None:
    await begun(make, peers, SOLVER)
    await peers.curator.tell(UPPER_CASE.id)

    async def plays() -> bool:
        return (await peers["solver-0"].health())["gauges"]["groups_running"] > 0

    await until(plays)
    assert await peers.curator.recorded() == []
    await peers.pool.admit(UPPER_CASE.to_dict(), "a test", 0)
    counts = await until(peers.curator.recorded)
    assert counts[0].member == UPPER_CASE.id and counts[0].attempts == 2


async def test_one_that_leaves_finishes_what_it_plays_and_takes_nothing_new(
    make: Raise, peers: Peers
) -> None:
    await begun(make, peers)
    await peers.pool.admit(UPPER_CASE.to_dict(), "a test", 0)
    await peers.curator.tell(UPPER_CASE.id)
    make(SOLVER)
    await until(peers.curator.recorded)
    asked = [asyncio.create_task(version(peers)) for _ in range(20)]
    await asyncio.gather(*(asyncio.wait([task], timeout=0.01) for task in asked[:1]))
    await peers["solver-0"].drain()
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    assert all(outcome == 0 or isinstance(outcome, SolverLeaving) for outcome in outcomes)
    with pytest.raises(SolverLeaving):
        await version(peers)
    report = await peers["solver-0"].health()
    assert report["gauges"]["groups_running"] == 0 and report["failures"] == 0
    assert (await peers.buffer.health())["gauges"]["reserved"] == 0


async def test_plays_that_fail_one_after_the_other_are_for_the_driver_to_see(
    make: Raise, peers: Peers
) -> None:
    await begun(make, peers)
    await peers.pool.admit(UPPER_CASE.to_dict(), "a test", 0)
    await peers.curator.tell(UPPER_CASE.id, True)
    make(SOLVER)

    async def failing() -> Any:
        return (await peers["solver-0"].health())["failing"].get("play")

    count, trace = await until(failing)
    assert count >= 1 and "no counts today" in trace


async def test_an_attached_policy_that_is_not_trained_answers_and_plays_nothing(
    make: Raise, peers: Peers, config: Config, tmp_path: Path
) -> None:
    spec = PolicySpec(name="guest", model="smollm2-135m")
    make(POOL)
    make(METRICS)
    wanted = attached(first(config), spec.model_dump(), config)
    await peers.pool.put_state("wanted", wanted.model_dump(mode="json"))
    await peers.pool.put_state(
        "guest.weights", weights(tmp_path, 5)
    )  # of an earlier life, when it was trained
    make(Post("guest.solver-0", SOLVER.path, policy=spec))
    assert await version(peers, "guest.solver-0") == 0
    assert (await peers["guest.solver-0"].health())["gauges"]["groups"] == 0


async def test_an_engine_that_takes_requests_and_hangs_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(solver, "LOOK_SECONDS", 0.1)
    ended = asyncio.Event()
    monkeypatch.setattr("actors.solver.os._exit", lambda code: ended.set())
    config = Config.model_validate({"run": {"name": "hanging", "folder": str(tmp_path)}})
    hanging = AttachedSolver(config.model_dump(mode="json"), ALONE)
    await hanging.ready()
    await ended.wait()
    await hanging.stop()
