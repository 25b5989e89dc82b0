"""What a job's actors have of the project, on a real Ray head whose Python has all but the project."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.heads import ROOT, Head, bare_python, head

FORGETFUL = {
    "RAY_RUNTIME_ENV_URI_PIN_EXPIRATION_S": "1",
    "RAY_RUNTIME_ENV_PY_MODULES_CACHE_SIZE_GB": "0",
    "RAY_RUNTIME_ENV_WORKING_DIR_CACHE_SIZE_GB": "0",
}
"""Ray drops what nobody uses at once, and not after ten minutes or gigabytes."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Head]:
    with head(bare_python(tmp_path_factory.mktemp("bare") / "python"), **FORGETFUL) as running:
        yield running


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listing.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    shutil.copy(ROOT / "tests" / "cluster" / "brought.py", folder / "brought.py")
    return folder


@pytest.fixture(scope="module")
def told(cluster: Head, checkout: Path) -> dict[str, Any]:
    """What an actor of a submitted job says."""
    submitted = cluster.ray(
        "job", "submit", "--working-dir", str(checkout), "--", "python", "brought.py", "make"
    )
    return said(submitted.stdout)


def said(output: str) -> Any:
    lines = [line for line in output.splitlines() if line.startswith("told:")]
    assert lines, output
    return json.loads(lines[0].removeprefix("told:"))


def test_the_clusters_python_knows_nothing_of_the_project(cluster: Head, tmp_path: Path) -> None:
    code = "from importlib import metadata; metadata.version('ray'); metadata.version('envolve')"
    done = subprocess.run(
        [str(cluster.python), "-c", code], cwd=tmp_path, env=cluster.inside(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert "No package metadata was found for envolve" in done.stderr


def test_an_actor_has_the_projects_entry_point_and_the_clusters_torch(
    told: dict[str, Any], cluster: Head
) -> None:
    assert told["plugins"] == ["training.policy.file_weights"]
    assert "py_modules_files" in told["actors"] and "py_modules_files" in told["cluster"]
    assert Path(told["torch"]).is_relative_to(cluster.python.parents[1])


def test_an_actor_that_outlives_its_job_keeps_the_project_when_it_and_its_children_are_made_again(
    told: dict[str, Any], cluster: Head, checkout: Path
) -> None:
    done = subprocess.run(
        [str(cluster.python), "brought.py", "again"], cwd=checkout, env=cluster.inside(), capture_output=True,
        text=True, timeout=180, check=False,
    )  # fmt: skip
    made_again, child = said(done.stdout + done.stderr)
    assert len({told["pid"], made_again["pid"], child["pid"]}) == 3
    for later in (made_again, child):
        assert {**later, "pid": told["pid"]} == told
