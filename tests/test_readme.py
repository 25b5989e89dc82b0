"""The README's promises that a machine can check: its example passes the gates, its keys and commands exist."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cluster.cli import app
from cluster.resolve import known_keys, resolve

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_example_environment_passes_every_mechanical_gate_and_is_no_copy_of_a_seed(
    tmp_path: Path,
) -> None:
    example, *_ = blocks("python")
    file = tmp_path / "my_environment.py"
    file.write_text(example, encoding="utf-8")
    seeds = [str(path) for path in (ROOT / "envpool" / "seeds").glob("[!_]*.py")]
    result = CliRunner().invoke(app, ["judge", *seeds, str(file)])
    assert result.exit_code == 0, result.output


OVERRIDE = re.compile(r"\b[a-z]+\.[a-z_]+='?[^\s'`]+")


def overridden() -> list[str]:
    """The lines of commands that override a key, each without its remark."""
    lines = "\n".join(blocks("bash")).splitlines()
    return [line for line in (line.partition("  #")[0] for line in lines) if OVERRIDE.search(line)]


@pytest.mark.parametrize("line", overridden())
def test_every_override_it_shows_is_one(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if "pool.imports=imported" in line:
        assert CliRunner().invoke(app, ["export", "snapshot", "shipped", "imported"]).exit_code == 0
    preset = re.search(r"--config ([a-z0-9-]+)(?= )", line)
    given = [override.replace("'", "") for override in OVERRIDE.findall(line)]
    assert resolve(preset[1] if preset else "local", given)


def test_it_names_every_section_of_the_configuration() -> None:
    sections = {key.partition(".")[0] for key in known_keys()}
    assert [section for section in sections if f"`{section}`" not in README] == []


def test_every_path_it_names_exists() -> None:
    paths = re.findall(r"`((?:actors|cluster|envpool|training|tests)/[\w/.]*)`", README)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    "command", sorted(set(re.findall(r"^envolve ((?:pool )?\w+)", README, re.MULTILINE)))
)
def test_every_command_it_shows_exists(command: str) -> None:
    assert CliRunner().invoke(app, [*command.split(), "--help"]).exit_code == 0
