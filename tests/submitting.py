"""A run as a user submits it: `ray job submit` from a clone, on a cluster that asks for a token and lacks the project.

The story is driven once and looked into from other processes while it goes: submitted, stopped by `ray job stop`,
taken up by the same command, seen to its end. It says what was seen; `test_end_to_end.py` says what must have been.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import yaml

from envpool.store import PoolReader
from tests.heads import ROOT, Head
from tests.runs import TINY, RunFolder, descendants, envolve, left_of

STEPS = 4
STOPPED_AFTER = 2
SETTINGS = {**TINY, "run": {"audit": True, "steps": STEPS}}
COMMAND = ["python", "launch.py", "--config", "tiny.yaml", "run.name=job"]
"""As a user types it; without `run.folder`, and with whichever `python` the cluster has."""


@dataclass
class Submitted:
    """What was seen of the run, in order."""

    folder: RunFolder
    looked: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)
    plugins: list[str] = field(default_factory=list)
    logs_of_first: str = ""
    stopped: str = ""
    left_after_stop: list[str] = field(default_factory=list)
    phase_after_stop: str = ""
    saved: int = 0
    steps_before_stop: int = 0
    logs_of_second: str = ""
    left_at_the_end: list[str] = field(default_factory=list)


def cloned(folder: Path) -> Path:
    """A clean clone, with a configuration of the user's own in it."""
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listing.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / "tiny.yaml").write_text(yaml.safe_dump(SETTINGS), encoding="utf-8")
    return folder


def submit(cluster: Head, clone: Path, name: str, *command: str, **changes: str) -> Any:
    """`ray job submit`, as the README has it; the job goes on by itself."""
    return cluster.ray(
        "job", "submit", "--no-wait", "--submission-id", name, "--working-dir", str(clone), "--", *command,
        **changes,
    )  # fmt: skip


def submitted_run(cluster: Head, clone: Path, home: Path) -> Submitted:
    """The whole story; `home` is of the account that the cluster runs under."""
    (home / "runs").mkdir()
    seen = Submitted(RunFolder(home / "runs", "job", SETTINGS))
    before = set(descendants())
    done = submit(cluster, clone, "first", *COMMAND)
    assert done.returncode == 0, done.stdout + done.stderr
    await_job(cluster, "first", lambda: seen.folder.status().get("phase") == "training")
    look_into(seen)
    await_job(cluster, "first", lambda: len(seen.folder.lines("step")) >= STOPPED_AFTER)
    stop(seen, cluster, before)
    submit(cluster, clone, "second", *COMMAND)
    await_job(cluster, "second", lambda: "succeeded" in cluster.ray("job", "status", "second").stdout)
    seen.logs_of_second = cluster.ray("job", "logs", "second").stdout
    seen.left_at_the_end = left_of_the_run(before)
    seen.folder.drop_weights()
    return seen


def look_into(seen: Submitted) -> None:
    """The commands that read a run, from processes that are not the run's, while it trains."""
    where = ("--run", "job", "--folder", str(seen.folder.root))
    seen.looked["status"] = envolve("status", *where)
    seen.looked["ls"] = envolve("pool", "ls", *where, "--json")
    seen.looked["show"] = envolve("pool", "show", json.loads(seen.looked["ls"].stdout)[0]["id"], *where)


def stop(seen: Submitted, cluster: Head, before: set[psutil.Process]) -> None:
    seen.plugins = plugins_of_the_engine()
    seen.logs_of_first = cluster.ray("job", "logs", "first").stdout
    seen.stopped = cluster.ray("job", "stop", "first").stdout
    seen.left_after_stop = left_of_the_run(before)
    with PoolReader.open(seen.folder.path / "pool") as pool:
        seen.phase_after_stop, seen.saved = str(pool.state("phase")), int(pool.state("checkpoint")["step"])
    seen.steps_before_stop = len(seen.folder.lines("step"))


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
