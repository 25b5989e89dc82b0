"""One real run through `ray job submit`, on a cluster that asks for a token and whose nodes lack this project.

vLLM, verl and all stages are real. The job is stopped by `ray job stop` and the same command takes the run up again.
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from envpool.store import PoolReader
from tests.heads import ROOT, Head, bare_python, head
from tests.runs import TINY, RunFolder, adopt_orphans, descendants, kill_all, left_of

pytestmark = pytest.mark.timeout(1200)  # a hang, not slowness
STEPS = 5
SETTINGS = {
    **TINY,
    "run": {"audit": True, "steps": STEPS},
    "evaluation": {"enabled": False},
    "generator": {"enabled": False},
}
COMMAND = ["python", "launch.py", "--config", "tiny.yaml", "run.name=job"]
"""As a user types it; without `run.folder`, and with whichever `python` the cluster has."""


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Whatever a failing test leaves running is ended, and nothing else."""
    adopt_orphans()
    before = set(descendants())
    yield
    kill_all([process for process in descendants() if process not in before])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home folder of the account that the cluster runs under."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def cluster(home: Path) -> Iterator[Head]:
    """A head that asks for a token, and whose Python has all that the project needs, but not the project."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    with head(
        bare_python(home / "python"), HOME=str(home), XDG_CACHE_HOME=cache,
        RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32),
    ) as running:  # fmt: skip
        yield running


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean clone, with a configuration of the user's own in it."""
    folder = tmp_path_factory.mktemp("clone")
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listing.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / "tiny.yaml").write_text(yaml.safe_dump(SETTINGS), encoding="utf-8")
    return folder


@dataclass
class Seen:
    """What was seen of the run, in order."""

    folder: RunFolder
    logs: str = ""
    plugins: list[str] = field(default_factory=list)
    stopped: str = ""
    phase: str = ""
    saved: int = 0
    steps: int = 0
    left: list[str] = field(default_factory=list)
    finished: str = ""
    logs_of_second: str = ""


def submit(cluster: Head, clone: Path, name: str, *command: str, **changes: str) -> Any:
    return cluster.ray(
        "job", "submit", "--no-wait", "--submission-id", name, "--working-dir", str(clone), "--", *command,
        **changes,
    )  # fmt: skip


@pytest.fixture(scope="module")
def seen(cluster: Head, clone: Path, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    (home / "runs").mkdir()
    seen = Seen(RunFolder(home / "runs", "job", SETTINGS))
    before = set(descendants())
    done = submit(cluster, clone, "first", *COMMAND)
    assert done.returncode == 0, done.stdout + done.stderr
    await_job(cluster, "first", lambda: len(seen.folder.lines("step")) >= 2)
    seen.plugins = plugins_of_the_engine()
    seen.logs = cluster.ray("job", "logs", "first").stdout
    seen.stopped = cluster.ray("job", "stop", "first").stdout
    seen.left = left_of_the_run(before)
    with PoolReader.open(seen.folder.path / "pool") as pool:
        seen.phase, seen.saved = str(pool.state("phase")), int(pool.state("checkpoint")["step"])
    seen.steps = len(seen.folder.lines("step"))
    submit(cluster, clone, "second", *COMMAND)
    await_job(cluster, "second", lambda: "succeeded" in cluster.ray("job", "status", "second").stdout)
    seen.logs_of_second = cluster.ray("job", "logs", "second").stdout
    seen.folder.drop_weights()
    return seen


def await_job(cluster: Head, name: str, condition: Callable[[], Any], seconds: float = 400.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        status = cluster.ray("job", "status", name).stdout
        logs = "" if "RUNNING" in status or "PENDING" in status else cluster.ray("job", "logs", name).stdout
        assert not logs or condition(), f"{status}\n{logs}"
        assert time.monotonic() < deadline, cluster.ray("job", "logs", name).stdout
        time.sleep(2)


def plugins_of_the_engine() -> list[str]:
    """The folders on the path of vLLM's own process that hold an entry point of ours."""
    [engine] = [process for process in descendants() if "EngineCore" in " ".join(cmdline(process))]
    folders = engine.environ().get("PYTHONPATH", "").split(os.pathsep)
    return [str(path) for folder in folders for path in Path(folder).glob("envolve-*.dist-info")]


def left_of_the_run(before: set[psutil.Process]) -> list[str]:
    """What the run made and did not end; a worker of Ray's that waits for the next job is not the run's."""
    deadline = time.monotonic() + 90  # the supervisor finishes its update and saves, after its driver is gone
    while made := [line for line in left_of(before, 0) if is_of_the_run(line)]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.5)
    return made


def is_of_the_run(line: str) -> bool:
    """By the titles that Ray gives its processes, and the names of ours."""
    rays = re.search(r"ray::(IDLE|DashboardAgent|RuntimeEnvAgent|JobSupervisor)", line)
    return bool(re.search("ray::|VLLM|envpool|launch", line)) and not rays


def cmdline(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.parametrize("token", ["", "00" * 32])
def test_a_submission_without_the_clusters_token_is_refused(
    token: str, cluster: Head, clone: Path, tmp_path: Path
) -> None:
    # A token of this machine's own user may lie in its home folder.
    done = submit(cluster, clone, f"refused-{len(token)}", "true", RAY_AUTH_TOKEN=token, HOME=str(tmp_path))
    assert done.returncode != 0
    assert re.search("(?i)token", done.stdout + done.stderr)


def test_control_without_the_clusters_token_is_refused(cluster: Head, tmp_path: Path) -> None:
    done = cluster.envolve("pause", "--run", "job", RAY_AUTH_TOKEN="00" * 32, HOME=str(tmp_path))
    assert done.returncode == 1
    assert "token" in done.stderr


def test_the_projects_plugin_is_on_the_path_of_the_engine(seen: Seen) -> None:
    assert len(seen.plugins) == 1
    assert "py_modules_files" in seen.plugins[0]


def test_the_jobs_log_shows_the_run(seen: Seen) -> None:
    assert f"starting run job in {seen.folder.path}" in " ".join(seen.logs.split())
    assert re.search(rf"training: step \d/{STEPS}", seen.logs)


def test_a_job_that_is_stopped_saves_and_leaves_no_process(seen: Seen) -> None:
    assert "stopp" in seen.stopped
    assert seen.phase == "training"
    assert seen.saved == seen.steps >= 2
    assert seen.left == []


def test_the_same_command_takes_the_run_up_where_it_was_saved_and_ends_it(seen: Seen) -> None:
    assert "resuming run job" in " ".join(seen.logs_of_second.split())
    steps = [record["step"] for record in seen.folder.lines("step")]
    assert steps == list(range(1, STEPS + 1))
    assert "Pool after" in seen.logs_of_second


def test_the_command_is_the_readmes(clone: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    typed = " ".join(COMMAND).replace("tiny.yaml", "a100-node").replace("run.name=job", "run.name=demo")
    assert f"ray job submit --working-dir . -- {shlex.join(shlex.split(typed))}" in readme
