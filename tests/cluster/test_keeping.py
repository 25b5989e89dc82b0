"""What becomes of a run's actors when nodes come and go: where they live, that they return. Stages are simulated."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.roster import kind_of
from tests.cluster.light import LightRun, light_run
from tests.nodes import Nodes
from tests.runs import ROOT, adopt_orphans

SANDBOXES = 6


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    adopt_orphans()
    scratch = Path(tempfile.mkdtemp(prefix="ev"))
    made = Nodes(scratch / "ray", PYTHONPATH=str(ROOT))
    try:
        made.begin(others=1)
        yield made
    finally:
        made.lose_all()
        shutil.rmtree(scratch, ignore_errors=True)


@pytest.fixture(scope="module")
def run(nodes: Nodes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LightRun]:
    made = light_run(tmp_path_factory.mktemp("runs"), "kept", sandbox={"count": SANDBOXES})
    nodes.envolve("run", *made.command, "--detach")
    until(lambda: len(sandboxes(made)) == SANDBOXES and made.status()["phase"] == "training")
    yield made
    nodes.envolve("stop", "--now", *made.which)


def until(condition: Callable[[], Any], seconds: float = 300.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"nothing for {seconds:.0f} s"
        time.sleep(0.2)
    return value


def sandboxes(run: LightRun) -> dict[str, str]:
    """The node of each sandbox that serves, by name."""
    reports = run.status().get("actors", {})
    return {name: report["node"] for name, report in reports.items() if kind_of(name) == "sandbox"}


def test_actors_are_spread_over_the_nodes_that_are_there(nodes: Nodes, run: LightRun) -> None:
    assert sorted(Counter(sandboxes(run).values()).values()) == [SANDBOXES // 2] * 2
    overview = run.status()["actors"]["supervisor"]["overview"]
    others = [
        [name for name in node["actors"] if kind_of(name) not in ("sandbox", "follower")]
        for node in overview["nodes"]
    ]
    assert len(others) == 2 and abs(len(others[0]) - len(others[1])) <= 1, others


def test_a_node_that_joins_is_followed_and_takes_sandboxes_over(nodes: Nodes, run: LightRun) -> None:
    start = time.monotonic()
    joined = nodes.join()
    until(lambda: f"follower-{joined.id[:12]}" in run.status()["actors"])
    lag = next(node["replica_lag"] for node in run.status()["nodes"] if node["id"] == joined.id)
    assert lag <= time.monotonic() - start, "what was there before the node is no lag"
    until(lambda: sorted(Counter(sandboxes(run).values()).values()) == [SANDBOXES // 3] * 3)


def test_what_was_on_a_lost_node_returns_on_others_and_its_follower_does_not(
    nodes: Nodes, run: LightRun
) -> None:
    victim = nodes.others[-1]
    lost = victim.id
    until(lambda: lost in sandboxes(run).values())
    nodes.lose(victim)
    until(lambda: lost not in sandboxes(run).values() and len(sandboxes(run)) == SANDBOXES)
    until(lambda: f"follower-{lost[:12]}" not in run.status()["actors"])
