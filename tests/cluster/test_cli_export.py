"""`envolve export`: from a run, a backup or what ships, into a folder that is whole or not there."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cluster.cli import app, export
from envpool import Pool
from envpool.members import Member
from envpool.sandbox import InfrastructureFault
from tests.envpool.exchange.exchanged import members, write_pool


@pytest.fixture(scope="module")
def found() -> dict[str, Member]:
    return members()


@pytest.fixture
def run(found: dict[str, Member], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_pool(tmp_path / "runs/night", found)


def envolve(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("named", ["night", "runs/night", "runs/night/pool"])
def test_a_snapshot_is_written_of_a_run_by_name_or_path_and_of_its_pool(run: Path, named: str) -> None:
    result = envolve("export", "snapshot", named, "out", "--licence", "MIT")
    assert result.exit_code == 0, result.output
    assert "15 members, 1 of them set apart" in " ".join(result.output.split())
    with Pool.open("out") as pool, Pool.open(run) as ours:
        assert pool.fingerprint == ours.fingerprint
        assert pool.snapshot.provenance.licence == "MIT"
    assert [path.name for path in Path("out").iterdir()] == ["members.jsonl"]


def test_questions_are_written_a_line_each_and_what_the_pool_lacks_is_said(run: Path) -> None:
    result = envolve(
        "export", "jsonl", run, "out", "--train", 6, "--questions", 2, "--families", 3, "--level", 1
    )
    assert result.exit_code == 0, result.output
    counts = {
        path.stem: len(path.read_text(encoding="utf-8").splitlines()) for path in Path("out").glob("*.jsonl")
    }
    assert counts == {"train": 6, "held_out_questions": 2, "held_out_families": 3, "members": 16}
    assert "train.jsonl: 6 questions" in result.output
    first = json.loads(Path("out/train.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first["fingerprint"] in result.output


def test_a_package_for_reasoning_gym_is_named_and_says_how_it_is_used(run: Path) -> None:
    result = envolve("export", "reasoning-gym", run, "out", "--name", "night_pool")
    assert result.exit_code == 0, result.output
    assert "15 data sets" in result.output
    assert sorted(path.name for path in Path("out/night_pool").iterdir()) == ["__init__.py", "members.jsonl"]
    assert envolve("export", "reasoning-gym", run, "other", "--name", "night-pool").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("snapshot", "nowhere", "out"), "there is no pool at nowhere"),
        (("snapshot", "night", "full"), "full is there already, and not empty"),
        (("jsonl", "night", "full/file"), "full/file is there already, and not empty"),
        (("snapshot", "full/file", "out"), "full/file is no snapshot of a pool"),
    ],
)
def test_what_cannot_be_exported_is_told_in_a_line(run: Path, arguments: tuple[str, ...], said: str) -> None:
    Path("full").mkdir()
    Path("full/file").write_text("mine", encoding="utf-8")
    result = envolve("export", *arguments)
    assert result.exit_code == 1
    assert said in " ".join(result.output.split())
    assert Path("full/file").read_text(encoding="utf-8") == "mine"
    assert not Path("out").exists()


@pytest.mark.parametrize("kind", ["reasoning-gym", "verifiers"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("class", "no word of Python"),
        ("night-pool", "small letters"),
        ("Night", "small letters"),
        ("json", "is taken"),
        ("envpool", "is taken"),
        ("reasoning_gym", "is taken"),
    ],
)
def test_a_package_has_a_name_that_it_can_be_imported_by(run: Path, kind: str, name: str, said: str) -> None:
    result = envolve("export", kind, run, "out", "--name", name)
    assert (result.exit_code, said in " ".join(result.output.split())) == (2, True), result.output
    assert not Path("out").exists()


def test_the_folder_that_one_is_in_is_refused_before_the_work(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    monkeypatch.setattr(export, "write_jsonl", lambda *_, **__: pytest.fail("it was begun"))
    result = envolve("export", "jsonl", run, ".")
    assert (result.exit_code, "the folder that you are in" in " ".join(result.output.split())) == (1, True)


@pytest.mark.parametrize("trouble", [KeyboardInterrupt(), InfrastructureFault("no fork")])
def test_an_export_that_is_cut_off_leaves_nothing(
    run: Path, trouble: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(pool: Pool, folder: Path, *_: object, **__: object) -> None:
        (folder / "train.jsonl").write_text("half", encoding="utf-8")
        raise trouble

    monkeypatch.setattr(export, "write_jsonl", cut_off)
    result = envolve("export", "jsonl", run, "out")
    assert result.exit_code == (2 if isinstance(trouble, InfrastructureFault) else 130)
    assert sorted(path.name for path in Path().iterdir()) == ["runs"]
