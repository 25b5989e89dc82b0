"""`envolve export verifiers`: a package of a pool, or of a service."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cluster.cli import app
from envpool.exchange.snapshot import read_snapshot
from tests.envpool.exchange.exchanged import members, write_members


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_members(tmp_path_factory.mktemp("snapshot"), members())


def test_a_pool_becomes_a_package_that_brings_it(snapshot: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["export", "verifiers", str(snapshot), str(out), "--name", "my_pool"])
    assert result.exit_code == 0, result.stderr
    assert "vf-eval my-pool" in result.stdout
    assert read_snapshot(out / "my_pool").fingerprint == read_snapshot(snapshot).fingerprint
    assert {path.name for path in out.iterdir()} == {"pyproject.toml", "README.md", "my_pool", "tests"}


def test_a_url_becomes_a_package_that_asks_it(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["export", "verifiers", "http://127.0.0.1:8321/", str(tmp_path / "out")])
    assert result.exit_code == 0, result.stderr
    init = (tmp_path / "out" / "envolve_pool" / "__init__.py").read_text(encoding="utf-8")
    assert "SOURCE = 'http://127.0.0.1:8321'" in init


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nowhere", "out"], 1, "there is no pool at nowhere"),
        (["http://x", "out", "--name", "My-Pool"], 2, "small letters"),
        (["http://x", "full"], 1, "not empty"),
    ],
)
def test_what_cannot_be_written_is_told_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("full").mkdir()
    Path("full/kept").touch()
    result = CliRunner().invoke(app, ["export", "verifiers", *arguments])
    assert (result.exit_code, said in result.stderr) == (code, True), result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["full"]
