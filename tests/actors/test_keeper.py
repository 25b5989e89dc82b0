"""What becomes of a solver's permits when its process is gone: the real buffer, and all else of the run light."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from actors import roster
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
