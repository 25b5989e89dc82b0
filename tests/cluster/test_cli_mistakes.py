"""What somebody gets wrong on the first day ends with a line that says what to do, and the help reads as prose."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cluster.cli import app
from cluster.entry import main
from tests.cluster.sample import PROGRAM


def envolve(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="envolve")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def base_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Envolve without an extra, in an empty folder."""
    for module in ("cluster.driver", "cluster.control"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", [["run"], ["scale", "sandbox=3", "--address", "here:6379"]])
def test_a_command_that_needs_ray_names_the_extras_that_have_it(
    base_install: None, command: list[str]
) -> None:
    result = envolve(*command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "needs ray, which the base install does not have: pip install 'envolve[cpu]'" in result.stderr
    assert not list(Path.cwd().iterdir())


def test_launch_py_says_the_same(
    base_install: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["launch.py", "--config", "local"])
    with pytest.raises(SystemExit, match="2"):
        main("run")
    assert "needs ray" in capsys.readouterr().err


def test_a_module_that_is_lost_where_ray_is_there_is_a_fault_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "cluster.control", raising=False)
    monkeypatch.setitem(sys.modules, "cluster.control", None)
    result = CliRunner().invoke(app, ["scale", "sandbox=3", "--address", "here:6379"])
    assert isinstance(result.exception, ModuleNotFoundError)


def test_a_file_is_no_pool_to_import_into(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(PROGRAM, encoding="utf-8")
    result = envolve("import", "folder", file, "--into", file)
    assert (result.exit_code, "is a file; a pool is a folder" in result.stderr) == (2, True)


def test_a_folder_of_other_files_is_no_place_for_a_new_pool(tmp_path: Path) -> None:
    file = tmp_path / "mine" / "large.py"
    file.parent.mkdir()
    file.write_text(PROGRAM, encoding="utf-8")
    result = envolve("import", "folder", file.parent, "--into", file.parent)
    assert (result.exit_code, "no pool but other files (large.py)" in result.stderr) == (2, True), (
        result.stderr
    )
    assert list(file.parent.iterdir()) == [file]


def test_a_pool_whose_making_was_cut_off_is_made_where_it_was_begun(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "writer.lock").write_text("1\n", encoding="ascii")
    result = envolve("import", "folder", tmp_path / "mine.py", "--into", tmp_path / "pool")
    assert result.exit_code == 0, result.output


def test_a_full_folder_is_refused_before_the_pool_is_read(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("", encoding="utf-8")
    result = envolve("export", "snapshot", "no such pool", tmp_path)
    assert (result.exit_code, "not empty" in " ".join(result.stderr.split())) == (1, True)


@pytest.mark.parametrize("port", ["99999", "-1"])
def test_a_port_that_cannot_be_is_an_argument_that_is_refused(port: str) -> None:
    result = envolve("serve", "--pool", "pool", "--port", port)
    assert (result.exit_code, "--port" in result.stderr) == (2, True)


def test_a_paragraph_of_the_help_ends_where_the_terminal_does() -> None:
    lines = [line.strip() for line in envolve("import", "folder", "--help").stdout.splitlines()]
    start = next(at for at, line in enumerate(lines) if line.startswith("Exit 0"))
    assert lines[start : start + 2] == [
        "Exit 0 when the pool has all of them, 1 when one is rejected, 2 when something",
        "cannot be read or the machine gave no verdict.",
    ]
