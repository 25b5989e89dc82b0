"""What of the project travels to a cluster: the upload of a checkout, and the wheel that its actors are given."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from ray._private.runtime_env.packaging import create_package, get_uri_for_directory

from cluster import submission
from cluster.resolve import resolve
from cluster.submission import JOB_SETTINGS, SubmissionError, environment, settled
from tests.heads import bare_python

ROOT = Path(__file__).parents[2]
MIB = 1 << 20


def tracked() -> list[str]:
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listing.stdout.splitlines() if (ROOT / name).is_file()]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files of a clean clone."""
    for name in tracked():
        (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / "checkout" / name)
    return tmp_path / "checkout"


def soil(checkout: Path) -> None:
    """What lies in a checkout that has been worked in; none of it is for the cluster."""
    for name in (
        ".git/objects/pack", ".venv/lib/torch.so", "runs/demo/pool/data.mdb", "elsewhere/demo/pool/data.mdb",
        "elsewhere/demo/checkpoints/step-1/model.safetensors", "elsewhere/demo/samples/version-1.parquet",
        "actors/__pycache__/base.pyc", "build/lib/actors/base.py", "envolve.egg-info/PKG-INFO", "wandb/run-1/log",
        ".mypy_cache/3.11/x.json", ".pytest_cache/v/x", "pool/members.jsonl", "pools/mine/lock",
        "imported/config.yaml", "exports/questions/train.jsonl", "exported/envolve_reward.py", "out/gym/pyproject.toml",
        "report.json", "RLVE/Gym/environment.py",
    ):  # fmt: skip
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_bytes(b"\0" * 100_000)


def uploaded(checkout: Path, to: Path) -> list[str]:
    """The names of the files that `ray job submit --working-dir` sends, as Ray packs them."""
    create_package(str(checkout), to, include_gitignore=True)
    with zipfile.ZipFile(to) as archive:
        return [name for name in archive.namelist() if not name.endswith("/")]


def test_a_clean_clone_uploads_the_program_and_little_else(checkout: Path, tmp_path: Path) -> None:
    names = uploaded(checkout, tmp_path / "upload.zip")
    folders = {name.partition("/")[0] for name in names if "/" in name}
    assert folders == {*submission.PACKAGES, "scripts"}
    assert set(submission.FILES) <= set(names)
    assert (tmp_path / "upload.zip").stat().st_size < 2.5 * MIB  # 436 bricks are a third of it


def test_what_lies_about_in_a_checkout_stays_there(checkout: Path, tmp_path: Path) -> None:
    clean = uploaded(checkout, tmp_path / "clean.zip")
    soil(checkout)
    assert sorted(uploaded(checkout, tmp_path / "soiled.zip")) == sorted(clean)


def test_a_configuration_of_the_users_own_goes_along(checkout: Path, tmp_path: Path) -> None:
    (checkout / "my.yaml").write_text("run: {steps: 3}", encoding="utf-8")
    assert "my.yaml" in uploaded(checkout, tmp_path / "upload.zip")


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folders that actors get on their path."""
    return [Path(path) for path in environment(tmp_path_factory.mktemp("scratch"), local=False)["py_modules"]]


def test_actors_get_every_file_of_the_packages(modules: list[Path]) -> None:
    brought = {str(path.relative_to(modules[0].parent)) for folder in modules for path in folder.rglob("*")}
    ours = [name for name in tracked() if name.split("/")[0] in submission.PACKAGES]
    assert set(ours) <= brought
    assert not [name for name in brought if "__pycache__" in name]


def test_actors_get_the_entry_point_that_vllm_looks_for(modules: list[Path]) -> None:
    [told] = [folder for folder in modules if folder.suffix == ".dist-info"]
    distribution = metadata.Distribution.at(told)
    assert (distribution.name, distribution.version) == ("envolve", metadata.version("envolve"))
    [plugin] = [entry for entry in distribution.entry_points if entry.name == submission.PLUGIN]
    assert (plugin.group, plugin.value) == (submission.PLUGINS, "training.policy.file_weights:register")


def test_actors_get_nothing_that_the_project_depends_on(modules: list[Path]) -> None:
    assert {folder.name for folder in modules if folder.suffix != ".dist-info"} == set(submission.PACKAGES)


def test_the_same_code_is_named_alike_and_changed_code_is_not(
    modules: list[Path], checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def names(folders: list[Path]) -> list[str]:
        return [get_uri_for_directory(str(folder), include_gitignore=True) for folder in folders]

    def brought(scratch: str) -> list[str]:
        return names([Path(path) for path in environment(tmp_path / scratch, local=False)["py_modules"]])

    assert brought("again") == names(modules)
    monkeypatch.setattr(submission, "ROOT", checkout)
    first = brought("first")
    (checkout / "actors" / "base.py").write_text("CHANGED = True\n", encoding="utf-8")
    assert brought("second") != first


def test_building_leaves_the_checkout_as_it_was(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(checkout.rglob("*"))
    monkeypatch.setattr(submission, "ROOT", checkout)
    environment(tmp_path / "scratch", local=False)
    assert sorted(checkout.rglob("*")) == before


def test_a_ray_of_ones_own_needs_nothing_where_the_project_is_installed(tmp_path: Path) -> None:
    assert environment(tmp_path, local=True) == {}


def test_a_python_that_cannot_build_the_wheel_says_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = bare_python(tmp_path / "python")
    next(python.parents[1].rglob("site-packages/setuptools")).unlink()
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(SubmissionError, match=r"No module named 'setuptools'.*needs setuptools 77"):
        environment(tmp_path / "scratch", local=False)


def test_a_project_that_is_installed_without_a_checkout_brings_its_installed_files(
    modules: list[Path], tmp_path: Path
) -> None:
    """In a Python where the wheel is installed as pip would put it there."""
    python = bare_python(tmp_path / "python")
    packages = next((tmp_path / "python").rglob("site-packages"))
    for folder in modules:
        shutil.copytree(folder, packages / folder.name)
    told = subprocess.run(
        [str(python), "-c", "import json, pathlib, sys; from cluster.submission import environment;"
         "print(json.dumps(environment(pathlib.Path(sys.argv[1]), local=False)))", str(tmp_path / "scratch")],
        capture_output=True, text=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    brought = [Path(path) for path in json.loads(told.stdout)["py_modules"]]
    assert [path.name for path in brought] == [path.name for path in modules]
    for there, here in zip(brought, modules, strict=True):
        names = sorted(str(path.relative_to(there)) for path in there.rglob("*.*"))
        assert names == sorted(str(path.relative_to(here)) for path in here.rglob("*.*"))


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """This process as the driver of a submitted job; its home folder."""
    given = {"runtime_env": {"working_dir": "gcs://_ray_pkg_1.zip"}, "metadata": {}}
    monkeypatch.setenv(JOB_SETTINGS, json.dumps(given))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_a_submitted_runs_folder_is_not_in_the_copy_that_ray_removes(submitted: Path) -> None:
    assert settled(resolve("local", ["run.name=x"])).run_folder.parent == submitted / "runs"


def test_a_folder_that_is_given_whole_stays(submitted: Path) -> None:
    config = resolve("local", ["run.folder=/data/runs"])
    assert settled(config) == config
    assert settled(resolve("local", ["run.name=x", "run.folder=~/y"])).run_folder == submitted / "y" / "x"


def test_elsewhere_a_folder_is_relative_to_where_the_user_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(JOB_SETTINGS, raising=False)
    assert settled(resolve("local")) == resolve("local")
    monkeypatch.setenv(JOB_SETTINGS, json.dumps({"runtime_env": {"env_vars": {}}, "metadata": {}}))
    assert settled(resolve("local")) == resolve("local")
