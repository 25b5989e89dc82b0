"""What becomes of a solver's permits when its process is gone: the real buffer, and all else of the run light. And what
the keeper makes of starts that fail, and of actors that die before they answer, without a Ray."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors import roster
from actors.keeper import Keeper
from actors.roster import Place, Post
from cluster.config import Config
from cluster.placement import Node
from tests.actors.conftest import kill
from tests.simulated.light import light
from tests.simulated.runs import SimulatedRun, simulated

LONG = 240.0


@pytest.fixture
def run(cluster: None, tmp_path: Path) -> Iterator[SimulatedRun]:
    sections = {"run": {"actors": {"buffer": "actors.buffer:BufferActor"}}, "solver": {"count": 2}}
    config = simulated("keeping", tmp_path, light({}), sections)
    config.run_folder.mkdir(parents=True)
    going = SimulatedRun(config)
    try:
        going.begin(LONG)
        going.until(lambda: going.status().get("phase") == "training", LONG)
        yield going
    finally:
        roster.end(config)


def held(run: SimulatedRun) -> float:
    """Permits that are out."""
    return (run.ask("buffer", "gauges") or {}).get("reserved", -1.0)


@pytest.mark.parametrize("wanted", [2, 1], ids=["is made again", "is scaled away"])
def test_the_permits_of_a_solver_that_was_killed_are_free_whether_it(run: SimulatedRun, wanted: int) -> None:
    """Or nobody could play in its place, and in the end nobody at all."""
    run.until(lambda: "solver-1" in run.pids(), LONG)
    assert run.until(lambda: run.ask("buffer", "reserve", "solver-1", 100), LONG)
    assert run.ask("buffer", "reserve", "solver-0", 1) == []
    run.ask("supervisor", "scale", {"solver": wanted})
    kill(run.pids()["solver-1"])
    run.until(lambda: held(run) == 0, LONG)
    assert run.ask("buffer", "reserve", "solver-0", 1)


@pytest.fixture
def keeper() -> Keeper:
    """Of a cluster of one node, without a Ray."""
    made = Keeper(Config.model_validate({"run": {"name": "kept"}}), lambda what, trace: None)
    made._nodes = [Node("head", "10.0.0.1", True, True, 8.0, 0.0)]
    return made


def test_one_of_several_whose_start_fails_ends_no_run_while_another_serves(keeper: Keeper) -> None:
    keeper._failed_starts |= dict.fromkeys(("sandbox-1", "learner", "rival.learner"), (3, "no disk"))
    assert set(keeper.failing()) == {"start of sandbox-1", "start of learner"}
    keeper._due["sandbox-0"] = 1.0  # it has started
    assert set(keeper.failing()) == {"start of learner"}


async def test_what_is_being_made_when_a_keeper_ends_is_there_afterwards_to_be_ended_too(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    monkeypatch.setattr(roster, "make", lambda post, *_: (time.sleep(0.3), made.append(post.name)))
    keeper._begin("novelty", keeper.make(Post("novelty", "module:Class")))
    await asyncio.sleep(0.1)
    await keeper.close()
    assert made == ["novelty"]


@pytest.mark.parametrize("place", [Place.HEAD, Place.GROUP, Place.ANY])
async def test_an_actor_that_dies_before_it_has_answered_has_died_wherever_it_belongs(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    monkeypatch.setattr(roster, "make", lambda *_: None)
    post = Post("novelty", "module:Class", place)
    for _ in range(3):
        await keeper.make(post)
        keeper._missing(post)
        await asyncio.gather(*keeper._tasks.values())
    assert keeper.overview()["restarts"] == {"novelty": 3}
    assert not keeper._restarts.may_make("novelty", time.monotonic())
    await keeper.close()
