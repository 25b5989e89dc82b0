"""How a run comes by its Ray, where Ray does not come up, and how it leaves early. No Ray is started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import ray
from ray._private.node import Node
from typer.testing import CliRunner

from cluster import driver, joining
from cluster.cli import app

TIMED_OUT = "The current node timed out during startup. This could happen because ..."


class LateNode(Node):
    """Stands where Ray's node does, and does not come up in time."""

    ended: int = 0

    def __init__(self) -> None:
        raise Exception(TIMED_OUT)  # as Ray does

    def kill_all_processes(self, *_: Any, **__: Any) -> None:
        type(self).ended += 1


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What becomes of each start of Ray, the next one first: an exception, a node that is late, or None."""
    outcomes: list[Any] = []

    def init(**_: Any) -> None:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        if outcome is not None:
            outcome()

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(LateNode, "ended", 0)
    return outcomes


def test_a_ray_that_is_late_is_cleared_away_and_started_once_more(tries: list[Any]) -> None:
    tries += [LateNode, None]
    joining._start_ray({})
    assert (tries, LateNode.ended) == ([], 1)


def test_a_ray_that_is_late_twice_is_an_error_with_a_way_out(tries: list[Any]) -> None:
    tries += [LateNode, LateNode, None]
    with pytest.raises(joining.RayNotStarted, match=r"tried twice .*timed out.*busy.*run the same command again"):
        joining._start_ray({})
    assert (tries, LateNode.ended) == ([None], 2)


def test_settings_that_ray_refuses_are_not_tried_again(tries: list[Any]) -> None:
    tries += [ValueError("no such setting"), None]
    with pytest.raises(ValueError, match="no such setting"):
        joining._start_ray({})
    assert tries == [None]


def test_the_command_whose_ray_is_late_ends_with_one_line(
    tries: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(joining, "environment", lambda *_, **__: {})
    tries += [LateNode, LateNode]
    result = CliRunner().invoke(app, ["run", "run.name=late", f"run.folder={tmp_path}"])
    assert result.exit_code == 1
    [line] = [line for line in result.stderr.splitlines() if line.startswith("envolve: ")]
    assert "Ray did not start" in line and "Traceback" not in result.output
    looked = CliRunner().invoke(app, ["status", "--folder", str(tmp_path)])
    assert "late has no status yet: it did not start" in looked.stderr


def test_a_run_that_is_interrupted_before_anything_is_saved_is_said_to_begin_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def nowhere(*_: Any, **__: Any) -> Iterator[joining.Cluster]:
        yield joining.Cluster("", local=True)

    def stopped(*_: Any) -> None:
        raise driver._stopped({"phase": "starting", "checkpoint": 0})

    monkeypatch.setattr(joining, "cluster_of", nowhere)
    monkeypatch.setattr(driver, "drive", stopped)
    result = CliRunner().invoke(app, ["run", "run.name=brief", f"run.folder={tmp_path}"])
    assert result.exit_code == 130
    said = " ".join(result.stdout.split())
    assert "nothing to save yet. The same command with run.name=brief begins it." in said
