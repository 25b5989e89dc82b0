"""Bringing this project to the nodes of a cluster: its own wheel as a runtime environment, without its dependencies.

Invariant: torch, vLLM, verl and all else that the project needs stay what the cluster has; only the project itself
travels. The wheel is given to Ray unpacked, as folders that go on the path of every actor: nothing is installed on a
node, so that it needs neither pip nor a network there, and what is uploaded is named by its content, so that changed
code is new code and unchanged code is not uploaded again. Its metadata comes along: vLLM finds our weight backend by
an entry point. Nothing here connects to a cluster.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

from cluster.config import Config

PROJECT = "envolve"
PLUGINS, PLUGIN = "vllm.general_plugins", "envolve_file_weights"
ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("actors", "cluster", "envpool", "training")
FILES = ("pyproject.toml", "README.md", "LICENSE", "launch.py")
JOB_SETTINGS = "RAY_JOB_CONFIG_JSON_ENV_VAR"
"""Set by Ray for the driver of a submitted job, and only for it."""
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


class SubmissionError(RuntimeError):
    """The project cannot be brought to the cluster; the message says what is missing."""


def environment(scratch: Path, local: bool) -> dict[str, Any]:
    """Ray's runtime environment for the actors of a run, made of files in `scratch`; empty where none is needed.

    `local`: Ray is started by this process, so that actors see what this process sees. Raises SubmissionError.
    """
    if local and installed():
        return {}
    unpacked = scratch / PROJECT
    unpacked.mkdir(parents=True)
    if (ROOT / "pyproject.toml").is_file():
        _unpack(_built(scratch), unpacked)
    else:
        _copy_installed(unpacked)
    return {"py_modules": sorted(str(path) for path in unpacked.iterdir() if path.is_dir())}


def installed() -> bool:
    """Whether this Python knows the project as a distribution, with its entry point."""
    return bool(metadata.entry_points(group=PLUGINS, name=PLUGIN))


def settled(config: Config) -> Config:
    """The configuration with a run folder that outlasts the job.

    The working directory of a submitted job is a copy that Ray removes, so a relative `run.folder` is taken from the
    home folder of the account that Ray runs under there; everywhere else it stays relative to where the user stands.
    """
    folder = config.run.folder.expanduser()
    if folder.is_absolute() or not in_copy():
        return config
    return config.model_copy(update={"run": config.run.model_copy(update={"folder": Path.home() / folder})})


def in_copy() -> bool:
    """Whether this process is the driver of a submitted job whose working directory is Ray's copy."""
    given = json.loads(os.environ.get(JOB_SETTINGS) or "{}")
    return bool((given.get("runtime_env") or {}).get("working_dir"))


def _built(scratch: Path) -> Path:
    """The wheel of the checkout that this code is from; built in a copy, which is left clean of what builds leave."""
    source, out = scratch / "source", scratch / "wheel"
    source.mkdir()
    for name in FILES:
        shutil.copy(ROOT / name, source / name)
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(out)], cwd=source, capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise SubmissionError(
            f"the project's wheel cannot be built for the cluster's nodes ({reason}); building it needs "
            f"setuptools 77 or newer in {sys.executable}"
        )
    [wheel] = out.glob("*.whl")
    return wheel


def _unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)


def _copy_installed(folder: Path) -> None:
    """The files that the installed distribution is made of."""
    try:
        files = metadata.files(PROJECT) or []
    except metadata.PackageNotFoundError as error:
        raise SubmissionError(
            f"{ROOT} is neither a checkout of the project nor a place where it is installed"
        ) from error
    for file in files:
        # Neither what lies outside (the console command) nor single modules (`launch.py`), which no actor needs.
        if len(file.parts) > 1 and ".." not in file.parts and file.suffix != ".pyc":
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(str(file.locate()), target)
