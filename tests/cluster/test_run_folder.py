"""The folder of a run: names, the lock, and what a resume may not change."""

from pathlib import Path

import lmdb
import pytest

from cluster.config import Config
from cluster.resolve import ConfigError, resolve
from cluster.run_folder import CONFIG_FILE, RunFolderError, finished, held, named, phase
from envpool.members import Member, Origin, Program
from envpool.store import PoolWriter


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path / "runs"


def config_of(runs: Path, *overrides: str) -> Config:
    return resolve("local", [f"run.folder={runs}", *overrides])


def make_run(runs: Path, name: str, phase: str) -> None:
    with PoolWriter.open(runs / name / "pool", map_size=1 << 24) as pool:
        pool.put_state("phase", phase)


def test_the_first_run_of_a_preset_is_number_one(runs: Path) -> None:
    assert named(config_of(runs)).run.name == "local-1"


def test_a_given_name_stays(runs: Path) -> None:
    assert named(config_of(runs, "run.name=mine")).run.name == "mine"


def test_an_unfinished_run_is_taken_up_again(runs: Path) -> None:
    make_run(runs, "local-1", "done")
    make_run(runs, "local-2", "training")
    assert named(config_of(runs)).run.name == "local-2"


def test_after_a_finished_run_comes_the_next_number(runs: Path) -> None:
    make_run(runs, "local-9", "done")
    make_run(runs, "local-10", "done")
    make_run(runs, "local-100x", "training")
    assert named(config_of(runs)).run.name == "local-11"


def test_a_configuration_file_of_any_name_gives_a_valid_run_name(runs: Path, tmp_path: Path) -> None:
    file = tmp_path / "my [first] trial.yaml"
    file.write_text(f"run: {{folder: {runs}}}", encoding="utf-8")
    name = named(resolve(str(file))).run.name
    assert name == "my-first-trial-1"
    make_run(runs, name, "training")
    assert named(resolve(str(file))).run.name == name


def test_a_folder_without_a_pool_is_at_its_start(runs: Path) -> None:
    (runs / "local-1").mkdir(parents=True)
    assert phase(runs / "local-1") == "starting"
    assert not finished(runs / "local-1")
    assert named(config_of(runs)).run.name == "local-1"


@pytest.mark.parametrize("made", ["folder", "empty file", "no databases"])
def test_a_run_that_was_killed_while_its_pool_was_made_starts_again(runs: Path, made: str) -> None:
    pool = runs / "local-1" / "pool"
    pool.mkdir(parents=True)
    if made == "empty file":
        (pool / "data.mdb").touch()
    elif made == "no databases":
        lmdb.open(str(pool), max_dbs=2).close()
    assert phase(runs / "local-1") == "starting"
    make_run(runs, "local-1", "training")
    assert phase(runs / "local-1") == "training"


def test_the_configuration_is_kept_with_the_run(runs: Path) -> None:
    config = config_of(runs, "run.name=mine")
    with held(config) as folder:
        assert resolve(str(folder / CONFIG_FILE)) == config


def test_a_second_driver_is_refused_and_told_what_to_do(runs: Path) -> None:
    config = config_of(runs, "run.name=mine")
    second = pytest.raises(RunFolderError, match=r"envolve status --run mine.*run\.name=OTHER")
    with held(config), second, held(config):
        pytest.fail("two drivers at once")
    with held(config):
        pass  # free again


@pytest.mark.parametrize(
    "override",
    [
        "run.seed=5",
        "policy.dtype=float32",
        "policy.system=Think.",
        "pool.held_out=lists/total",
        "pool.seeds=none",
        "pool.bricks=all",
        "bricks.subset=20",
        "evaluation.level=1",
    ],
)
def test_a_resume_keeps_what_its_checkpoint_pool_and_questions_were_made_with(
    runs: Path, override: str
) -> None:
    with held(config_of(runs, "run.name=mine")) as folder:
        before = (folder / CONFIG_FILE).read_text(encoding="utf-8")
    key = override.partition("=")[0]
    with (
        pytest.raises(ConfigError, match=f"{key}=.*another run.name"),
        held(config_of(runs, "run.name=mine", override)),
    ):
        pytest.fail("resumed with another meaning")
    assert (folder / CONFIG_FILE).read_text(encoding="utf-8") == before


def test_a_run_of_an_earlier_version_is_told_file_key_and_what_is_written_now(runs: Path) -> None:
    with held(config_of(runs, "run.name=mine")) as folder:
        kept = folder / CONFIG_FILE
    kept.write_text(kept.read_text(encoding="utf-8").replace("composer:\n", "composer:\n  max_size: 4\n"), "utf-8")
    told = rf"{kept}: composer\.max_size \(value 4\) is no key any more; write compose\.size"
    with pytest.raises(ConfigError, match=told), held(config_of(runs, "run.name=mine")):
        pytest.fail("resumed with a key that has no effect")


def test_a_resume_may_change_how_far_and_how_fast_it_goes(runs: Path) -> None:
    with held(config_of(runs, "run.name=mine")):
        pass
    with held(config_of(runs, "run.name=mine", "run.steps=99", "sandbox.count=1")) as folder:
        assert resolve(str(folder / CONFIG_FILE)).run.steps == 99


def test_a_folder_that_cannot_be_made_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file", encoding="utf-8")
    with (
        pytest.raises(RunFolderError, match=r"run\.folder=PATH"),
        held(config_of(tmp_path / "runs", "run.name=x")),
    ):
        pytest.fail("ran in a file")


def test_the_kept_configuration_alone_resumes_the_run(runs: Path) -> None:
    config = config_of(runs, "run.name=mine", "learner.lr=3e-5")
    with held(config) as folder:
        pass
    again = named(resolve(str(folder / CONFIG_FILE)))
    assert again == config
    with held(again) as same:
        assert same == folder


def test_a_run_that_was_ended_before_it_had_its_imports_needs_them_and_their_packages(
    runs: Path, tmp_path: Path
) -> None:
    program = Program("import somewhere", "Task", "Do it.", "str", "str")
    with PoolWriter.open(tmp_path / "brought", map_size=1 << 24) as pool:
        pool.admit(Member(program, Origin.USER, evidence={"packages": ["somewhere"]}))
    make_run(runs, "mine", "starting")
    words = ["run.name=mine", f"pool.imports={tmp_path / 'brought'}"]
    lacking = config_of(runs, *words)
    with pytest.raises(RunFolderError, match=r"needs sandbox\.packages=somewhere"), held(lacking):
        pass
    whole = config_of(runs, *words, "sandbox.packages=somewhere")
    with held(whole):
        pass
    (tmp_path / "brought").rename(tmp_path / "elsewhere")
    with pytest.raises(RunFolderError, match=r"before it had all .*, and now .* no pool at"), held(whole):
        pass
