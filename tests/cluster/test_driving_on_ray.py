"""A driver and the run that it starts, on a real Ray head: who outlives whom, and what a stop leaves behind.

The run's stages are simulated (`light`); its pool, supervisor and driver are real.
"""

from __future__ import annotations

import json
import secrets
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.light import LightRun, light_run
from tests.heads import ROOT, Head, head

INTERRUPTED = 130


@pytest.fixture(scope="module")
def cluster() -> Iterator[Head]:
    with head(PYTHONPATH=str(ROOT)) as running:
        yield running


@pytest.fixture
def run(cluster: Head, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[LightRun]:
    """A run of this test's own; whatever is left of it is ended."""
    made = light_run(tmp_path, f"r{abs(hash(request.node.name)) % 10**8}")
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


def saved(run: LightRun) -> int:
    return int((run.state("checkpoint") or {"step": 0})["step"])


def run_address(run: LightRun) -> str:
    return str(json.loads((run.config.run_folder / "cluster.json").read_text(encoding="utf-8"))["address"])


def is_going(cluster: Head, run: LightRun) -> bool:
    return cluster.envolve("pause", *run.which).returncode == 0


def text(path: Path) -> str:
    return " ".join(path.read_text(encoding="utf-8").split())


def test_a_detached_run_goes_on_after_the_command_and_is_joined_not_started_twice(
    cluster: Head, run: LightRun, tmp_path: Path
) -> None:
    started = cluster.envolve("run", *run.command, "--detach")
    assert started.returncode == 0, started.stderr
    assert "goes on without this command" in started.stdout
    before = until(lambda: step(run))
    until(lambda: step(run) > before)
    supervisor = until(lambda: run.status().get("actors", {}).get("supervisor"))["pid"]
    again = cluster.envolve("run", *run.command, "--detach")
    assert "is going already and is joined" in again.stdout
    until(lambda: run.status()["at"] > time.time() - 1)
    assert run.status()["actors"]["supervisor"]["pid"] == supervisor


def test_a_run_says_in_its_folder_where_its_cluster_answers_and_nothing_secret(
    cluster: Head, run: LightRun
) -> None:
    cluster.envolve("run", *run.command, "--detach", RAY_AUTH_TOKEN="secret-of-this-test")
    told = (run.config.run_folder / "cluster.json").read_text(encoding="utf-8")
    place = json.loads(told)
    assert place["address"].rpartition(":")[2] == cluster.gcs.rpartition(":")[2]
    assert (place["namespace"], set(place)) == (run.config.namespace, {"address", "namespace", "started"})
    stopped = cluster.envolve("stop", *run.which, RAY_ADDRESS="")
    assert stopped.returncode == 0, stopped.stderr


def test_a_driver_that_is_killed_stops_nothing_and_the_next_one_joins(
    cluster: Head, run: LightRun, tmp_path: Path
) -> None:
    driver = cluster.begin("run", *run.command, log=tmp_path / "first.log")
    until(lambda: step(run))
    driver.kill()
    driver.wait()
    before = step(run)
    until(lambda: step(run) > before + 20)
    driver = cluster.begin("run", *run.command, log=tmp_path / "second.log")
    until(lambda: "is joined" in text(tmp_path / "second.log"))
    driver.send_signal(signal.SIGTERM)
    assert driver.wait(150) == INTERRUPTED
    assert f"step {saved(run)} is saved" in text(tmp_path / "second.log")
    assert saved(run) == step(run) > before


def test_a_driver_that_is_killed_right_after_its_interrupt_has_passed_it_on(
    cluster: Head, run: LightRun, tmp_path: Path
) -> None:
    """As `ray job stop` does it, which waits three seconds."""
    driver = cluster.begin("run", *run.command, log=tmp_path / "log")
    until(lambda: step(run))
    (run.config.run_folder / "slow disk").touch()
    driver.send_signal(signal.SIGTERM)
    until(lambda: run.state("draining"))
    driver.kill()
    driver.wait()
    (run.config.run_folder / "slow disk").unlink()
    until(lambda: not is_going(cluster, run))
    assert saved(run) == step(run) > 0
    assert run.state("phase") == "training"


def test_the_same_command_waits_for_a_run_that_is_being_stopped_and_resumes_it(
    cluster: Head, run: LightRun, tmp_path: Path
) -> None:
    cluster.envolve("run", *run.command, "--detach")
    until(lambda: step(run))
    (run.config.run_folder / "slow disk").touch()
    stop = cluster.begin("stop", *run.which, log=tmp_path / "stop.log")
    until(lambda: run.state("draining"))
    again = cluster.begin("run", *run.command, "--detach", log=tmp_path / "again.log")
    until(lambda: "it starts again when that is done" in text(tmp_path / "again.log"))
    (run.config.run_folder / "slow disk").unlink()
    assert stop.wait(150) == 0, text(tmp_path / "stop.log")
    reached = saved(run)
    assert again.wait(150) == 0, text(tmp_path / "again.log")
    until(lambda: step(run) > reached)


def test_a_run_in_a_ray_of_its_own_is_controlled_while_it_goes(
    cluster: Head, run: LightRun, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """As most users have it: no address, and nothing said of tokens, so that Ray makes one and asks for it."""
    plain = {"RAY_ADDRESS": "", "RAY_AUTH_MODE": "", "HOME": str(tmp_path)}
    driver = cluster.begin("run", *run.command, log=tmp_path / "log", **plain)
    request.addfinalizer(driver.terminate)
    until(lambda: step(run))
    assert (tmp_path / ".ray" / "auth_token").exists()
    own = {**plain, "RAY_ADDRESS": run_address(run)}
    big = "run", "--config", "a100-node", "run.name=big", f"run.folder={tmp_path}"
    assert "the cluster cannot hold run 'big'" in cluster.envolve(*big, **own).stderr
    for command in (big, ("pause", *run.which)):
        silent = cluster.envolve(*command, **own | {"RAY_AUTH_MODE": "disabled"})
        assert "asks for a token" in silent.stderr and "export RAY_AUTH_MODE=token" in silent.stderr
    scaled = cluster.envolve("scale", "sandbox=2", *run.which, **plain)
    assert "sandbox=2" in scaled.stdout, scaled.stderr
    stopped = cluster.envolve("stop", *run.which, **plain)
    assert "is saved" in stopped.stdout, stopped.stderr
    assert "oken" not in scaled.stderr + stopped.stderr
    assert driver.wait(150) == INTERRUPTED
    assert "no cluster answers" in cluster.envolve("pause", *run.which, **plain).stderr


def test_a_cluster_that_asks_for_no_token_minds_none(cluster: Head, run: LightRun, tmp_path: Path) -> None:
    cluster.envolve("run", *run.command, "--detach")
    (tmp_path / ".ray").mkdir()
    (tmp_path / ".ray" / "auth_token").write_text(secrets.token_hex(32), encoding="utf-8")
    for address in (cluster.gcs, cluster.client):
        which = *run.which, "--address", address
        paused = cluster.envolve("pause", *which, RAY_AUTH_MODE="", HOME=str(tmp_path))
        assert paused.returncode == 0, paused.stderr


def test_a_driver_whose_run_is_stopped_from_elsewhere_ends_and_says_so(
    cluster: Head, run: LightRun, tmp_path: Path
) -> None:
    driver = cluster.begin("run", *run.command, log=tmp_path / "log")
    until(lambda: step(run))
    assert cluster.envolve("stop", *run.which).returncode == 0
    assert driver.wait(150) == INTERRUPTED
    assert "stopped from elsewhere" in text(tmp_path / "log")


def test_a_run_that_cannot_save_is_ended_by_its_driver_all_the_same(
    cluster: Head, run: LightRun, tmp_path: Path
) -> None:
    driver = cluster.begin("run", *run.command, log=tmp_path / "log")
    until(lambda: step(run))
    (run.config.run_folder / "full disk").touch()
    driver.send_signal(signal.SIGINT)
    assert driver.wait(150) == INTERRUPTED
    told = text(tmp_path / "log")
    assert "stopped without saving, the last checkpoint stands" in told and "no space left on device" in told
    assert not is_going(cluster, run)


def test_a_second_interrupt_does_not_wait_for_the_save(cluster: Head, run: LightRun, tmp_path: Path) -> None:
    driver = cluster.begin("run", *run.command, log=tmp_path / "log")
    until(lambda: step(run))
    (run.config.run_folder / "slow disk").touch()
    driver.send_signal(signal.SIGINT)
    until(lambda: run.state("draining"))
    driver.send_signal(signal.SIGINT)
    assert driver.wait(150) != 0
    assert saved(run) == 0
    assert not is_going(cluster, run)


def test_a_finished_run_without_a_driver_ends_itself(cluster: Head, tmp_path: Path) -> None:
    run = light_run(tmp_path, "orphan", steps=5, supervision={"orphaned_seconds": 2.0})
    assert cluster.envolve("run", *run.command, "--detach").returncode == 0
    until(lambda: run.state("phase") == "done")
    until(lambda: not is_going(cluster, run))
    assert saved(run) == 5
    assert "is finished" in cluster.envolve("run", *run.command, "--detach").stderr


def test_a_finished_run_is_ended_by_its_driver(cluster: Head, tmp_path: Path) -> None:
    run = light_run(tmp_path, "finished", steps=5)
    done = cluster.envolve("run", *run.command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Pool after 5 updates" in done.stdout
    assert not is_going(cluster, run)


def test_counts_that_the_configuration_changed_take_effect_when_a_run_is_joined(
    cluster: Head, tmp_path: Path
) -> None:
    run = light_run(tmp_path, "counts")
    cluster.envolve("run", *run.command, "--detach")
    cluster.envolve("scale", "composer=2", *run.which)
    cluster.envolve("run", *run.command, "sandbox.count=3", "--detach")
    assert {kind: run.state("wanted")["counts"][kind] for kind in ("sandbox", "composer")} == {
        "sandbox": 3,
        "composer": 2,
    }
    cluster.envolve("stop", "--now", *run.which)


def test_a_cluster_that_cannot_hold_the_configuration_is_refused_before_anything_is_made(
    cluster: Head, tmp_path: Path
) -> None:
    refused = cluster.envolve("run", "--config", "a100-node", "run.name=big", f"run.folder={tmp_path}")
    assert refused.returncode == 2
    assert "the cluster cannot hold run 'big': it needs" in refused.stderr
    assert "GPU" in refused.stderr and "or add nodes" in refused.stderr
    assert "is going" in cluster.envolve("pause", "--run", "big").stderr
    assert not (tmp_path / "big" / "pool").exists()


@pytest.mark.parametrize(
    ("address", "way_out"),
    [
        ("", "`ray start --head` and set RAY_ADDRESS=auto"),
        ("http://127.0.0.1:8265", "started with `ray job submit`"),
        ("ray://127.0.0.1:10001", "started with `ray job submit`"),
    ],
)
def test_a_detached_run_needs_a_cluster_that_outlives_the_command(
    address: str, way_out: str, cluster: Head, tmp_path: Path
) -> None:
    run = light_run(tmp_path, "alone")
    refused = cluster.envolve("run", *run.command, "--detach", RAY_ADDRESS=address)
    assert refused.returncode == 2
    assert way_out in refused.stderr
