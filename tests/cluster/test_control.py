"""Control of a run that goes, by the commands as an operator types them, and what they say when it cannot be had.

The run's stages are simulated (`light`); its pool, metrics and supervisor are real, and so is the Ray head.
"""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cluster.cli import app
from cluster.config import Config
from cluster.control import PREFIX
from tests.cluster.light import LightRun, light_run
from tests.heads import ROOT, Head, free_port, head

COMMANDS = ("pause", "resume", "checkpoint", "stop", "policies", "status")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Head]:
    with head(PYTHONPATH=str(ROOT)) as running:
        yield running


@pytest.fixture(scope="module")
def run(cluster: Head, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LightRun]:
    """A run that goes without a driver."""
    made = light_run(tmp_path_factory.mktemp("runs"), "going")
    started = cluster.envolve("run", *made.command, "--detach")
    assert started.returncode == 0, started.stderr
    until(lambda: step(made))
    yield made
    cluster.envolve("stop", "--now", *made.which)


def until(condition: Callable[[], Any], seconds: float = 150.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"nothing for {seconds:.0f} s"
        time.sleep(0.2)
    return value


def step(run: LightRun) -> int:
    return int((run.state("progress") or {"step": 0})["step"])


def actors(run: LightRun) -> set[str]:
    """The names of the actors that the supervisor sees."""
    overview = run.status().get("actors", {}).get("supervisor", {}).get("overview", {})
    return {name for node in overview.get("nodes", ()) for name in node["actors"]}


def told(cluster: Head, *arguments: str, **changes: str) -> str:
    done = cluster.envolve(*arguments, **changes)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(cluster: Head, *arguments: str, **changes: str) -> str:
    """What a command says that ends with code 1 and one line."""
    done = cluster.envolve(*arguments, **changes)
    lines = [line for line in done.stderr.splitlines() if line.startswith("envolve: ")]
    assert (done.returncode, len(lines)) == (1, 1), done.stdout + done.stderr
    return lines[0]


def test_the_namespace_is_the_configurations() -> None:
    assert Config.model_validate({"run": {"name": "x"}}).namespace == f"{PREFIX}x"


def test_a_run_is_scaled_up_and_down_while_it_goes(cluster: Head, run: LightRun) -> None:
    assert "sandbox=3" in told(cluster, "scale", "sandbox=3", "composer=2", *run.which)
    until(lambda: {"sandbox-2", "composer-1"} <= actors(run))
    assert "sandbox=1" in told(cluster, "scale", "sandbox=1", "composer=1", *run.which)
    until(lambda: not {"sandbox-1", "sandbox-2", "composer-1"} & actors(run))
    assert "sandbox-0" in actors(run)


def test_a_kind_that_is_none_is_refused_with_the_nearest_right_one(cluster: Head, run: LightRun) -> None:
    assert "did you mean 'sandbox'?" in refused(cluster, "scale", "sandboxes=3", *run.which)
    assert "between 1 and" in refused(cluster, "scale", "sandbox=0", *run.which)


def test_a_paused_run_stands_still_until_it_is_resumed(cluster: Head, run: LightRun) -> None:
    told(cluster, "pause", *run.which)
    time.sleep(1)  # an update under way is finished
    before = step(run)
    time.sleep(2)
    assert step(run) == before
    told(cluster, "resume", *run.which)
    until(lambda: step(run) > before)


def test_a_checkpoint_is_made_when_it_is_asked_for(cluster: Head, run: LightRun) -> None:
    before = step(run)
    said = re.search(r"going: step (\d+) of policy main is saved", told(cluster, "checkpoint", *run.which))
    assert said and run.state("checkpoint")["step"] == int(said[1]) >= before


def test_a_policy_joins_is_listed_and_leaves(cluster: Head, run: LightRun) -> None:
    told(cluster, "attach", "second", "--model", "some/model", "--trainable", *run.which)
    until(lambda: {"second.solver-0", "second.learner", "second.calibrator"} <= actors(run))
    rows = {row["name"]: row for row in json.loads(told(cluster, "policies", *run.which, "--json"))}
    assert (rows["main"]["own"], rows["second"]["own"]) == (True, False)
    assert (rows["second"]["model"], rows["second"]["trainable"]) == ("some/model", True)
    assert "already" in refused(cluster, "attach", "second", "--model", "other", *run.which)
    assert "did you mean 'second'?" in refused(cluster, "detach", "secnd", *run.which)
    assert "own policy" in refused(cluster, "detach", "main", *run.which)
    told(cluster, "detach", "second", *run.which)
    until(lambda: not [name for name in actors(run) if name.startswith("second.")])


def test_a_model_behind_an_endpoint_joins_with_the_name_of_its_keys_variable(
    cluster: Head, run: LightRun
) -> None:
    address = "http://127.0.0.1:1/v1"
    told(
        cluster, "attach", "far", "--endpoint", address, "--model", "m", "--key-env", "FAR_KEY", *run.which,
        FAR_KEY="secret-of-this-test",
    )  # fmt: skip
    [spec] = run.state("wanted")["policies"]
    assert (spec["endpoint"], spec["key_env"], spec["concurrency"]) == (address, "FAR_KEY", 16)
    assert "secret-of-this-test" not in json.dumps(run.state("wanted"))
    assert f"m at {address}" in told(cluster, "policies", *run.which)
    told(cluster, "detach", "far", *run.which)


def test_a_machine_without_the_runs_folder_asks_the_cluster(
    cluster: Head, run: LightRun, tmp_path: Path
) -> None:
    elsewhere = ("--folder", str(tmp_path), "--address", cluster.gcs)
    assert "training: step" in told(cluster, "status", *elsewhere) or "step " in told(
        cluster, "status", *elsewhere
    )
    asked = json.loads(told(cluster, "status", *elsewhere, "--json"))
    assert (asked["run"], asked["phase"]) == ("going", "training")
    [own] = json.loads(told(cluster, "policies", *elsewhere, "--json"))
    assert (own["name"], own["solvers"]) == ("main", 1)


def test_a_machine_outside_of_the_cluster_comes_in_as_a_client(
    cluster: Head, run: LightRun, tmp_path: Path
) -> None:
    elsewhere = ("--folder", str(tmp_path), "--address", cluster.client)
    assert "sandbox=2" in told(cluster, "scale", "sandbox=2", *elsewhere)
    assert "did you mean 'sandbox'?" in refused(cluster, "scale", "sandboxs=2", *elsewhere)
    assert json.loads(told(cluster, "status", *elsewhere, "--json"))["run"] == "going"
    told(cluster, "scale", "sandbox=1", *elsewhere)


def test_a_run_is_found_by_what_its_folder_says_of_its_cluster(cluster: Head, run: LightRun) -> None:
    assert "goes on" in told(cluster, "resume", "--folder", str(run.config.run.folder), RAY_ADDRESS="")
    assert "goes on" in told(cluster, "resume", *run.which, RAY_ADDRESS=cluster.dashboard)


def test_a_supervisor_that_is_killed_is_asked_again_when_it_is_back(cluster: Head, run: LightRun) -> None:
    pid = run.status()["actors"]["supervisor"]["pid"]
    told(cluster, "scale", "sandbox=2", *run.which)
    os.kill(pid, signal.SIGKILL)
    assert "goes on" in told(cluster, "resume", *run.which)
    until(lambda: run.status()["actors"]["supervisor"]["pid"] != pid)
    assert run.state("wanted")["counts"]["sandbox"] == 2, "what was wanted outlives the supervisor"


def test_another_run_is_told_from_the_one_that_goes(cluster: Head, run: LightRun) -> None:
    by_address = ("--address", cluster.gcs)
    assert "did you mean 'going'?" in refused(cluster, "pause", "--run", "goin", *by_address)
    assert "the runs there are going" in refused(cluster, "pause", "--run", "xyz", *by_address)


def test_a_run_that_is_stopped_is_gone_with_every_actor_and_says_who_is_left_meanwhile(
    cluster: Head, run: LightRun, tmp_path: Path
) -> None:
    other = light_run(tmp_path, "stopped")
    told(cluster, "run", *other.command, "--detach")
    until(lambda: step(other))
    assert "say which with --run" in refused(cluster, "pause", "--address", cluster.gcs)
    stopped = cluster.envolve("stop", *other.which)
    assert re.search(r"stopped is stopped; step \d+ is saved", stopped.stdout), stopped.stderr
    assert "finishing what is under way, and saving; still there: buffer" in stopped.stderr
    assert "no run 'stopped' is going" in refused(cluster, "stop", *other.which)
    assert other.state("checkpoint")["step"] == step(other)


def test_a_run_that_is_stopped_now_saves_nothing(cluster: Head, tmp_path: Path) -> None:
    other = light_run(tmp_path, "at-once")
    told(cluster, "run", *other.command, "--detach")
    until(lambda: step(other))
    assert "at-once is stopped; no step is saved" in told(cluster, "stop", "--now", *other.which)


def test_a_stop_that_cannot_save_leaves_the_run_and_names_the_way_out(cluster: Head, tmp_path: Path) -> None:
    other = light_run(tmp_path, "full")
    told(cluster, "run", *other.command, "--detach")
    until(lambda: step(other))
    (other.config.run_folder / "full disk").touch()
    said = refused(cluster, "stop", *other.which)
    assert "no space left on device" in said and "--now" in said
    (other.config.run_folder / "full disk").unlink()
    assert "is saved" in told(cluster, "stop", *other.which)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_cluster_that_does_not_answer_is_named(command: str, cluster: Head, tmp_path: Path) -> None:
    address = f"127.0.0.1:{free_port()}"
    said = refused(cluster, command, "--run", "x", "--folder", str(tmp_path), "--address", address)
    assert f"no cluster answers at {address}" in said


def test_an_address_of_the_dashboard_is_told_from_the_clusters(cluster: Head) -> None:
    said = refused(cluster, "pause", "--run", "x", "--address", cluster.dashboard)
    assert "is the dashboard's" in said and "HOST:6379" in said


@pytest.mark.parametrize("command", ["pause", "resume", "checkpoint", "stop"])
def test_without_any_address_it_says_what_would_name_the_cluster(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    for which in (["--run", "x"], []):
        done = CliRunner().invoke(app, [command, *which, "--folder", str(tmp_path)])
        assert done.exit_code == 1
        assert "give --folder, or --address HOST:6379" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["scale", "sandbox"], "write KIND=COUNT"),
        (["scale", "sandbox=many"], "write KIND=COUNT"),
        (["scale", "sandbox=-1"], "write KIND=COUNT"),
        (["attach", "Big One", "--model", "m"], "NAME: "),
        (["attach", "big", "--model", ""], "--model: "),
        (["attach", "big", "--model", "m", "--gpus", "-1"], "--gpus: "),
        (["attach", "big", "--model", "m", "--solvers", "0"], "--solvers: "),
        (["attach", "big", "--model", "m", "--endpoint", "http://x", "--trainable"], "neither trainable"),
    ],
)
def test_wrong_arguments_end_with_one_line_and_code_two(arguments: list[str], word: str) -> None:
    done = CliRunner().invoke(app, arguments)
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1), done.output
    assert word in done.stderr


@pytest.mark.parametrize("arguments", [["scale"], ["attach", "big"], ["attach"], ["detach"]])
def test_missing_arguments_are_asked_for(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert "Missing" in done.stderr


@pytest.mark.parametrize(
    "command",
    ["scale", "pause", "resume", "checkpoint", "stop", "attach", "detach", "policies", "status", "run"],
)
def test_every_command_explains_itself(command: str) -> None:
    assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0
