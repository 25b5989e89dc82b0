"""`envolve warmstart`: what is wrong is said before anything is made. No Ray is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cluster.cli import app
from cluster.resolve import resolve
from training.grpo.errors import LearnerError
from training.policy.source import WEIGHTS
from training.warmstart import making

runner = CliRunner()


def warmstart(*arguments: object) -> Result:
    result = runner.invoke(app, ["warmstart", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / WEIGHTS).write_bytes(b"base")
    return folder


def raising(error: BaseException) -> Any:
    def train(*_: object) -> None:
        raise error

    return train


def test_it_explains_itself() -> None:
    found = warmstart("--help")
    assert found.exit_code == 0
    assert all(word in found.output for word in ("--minutes", "--seed", "local-writer"))


def test_an_unknown_model_is_named_with_what_there_is() -> None:
    found = warmstart("--model", "smollm9")
    assert found.exit_code == 2
    assert "'smollm9' is neither a packaged model (smollm2-135m) nor a folder" in found.stderr


def test_a_writer_is_no_base_of_another() -> None:
    found = warmstart("--model", "smollm2-135m-writer")
    assert found.exit_code == 2 and "is a writer already" in found.stderr


@pytest.mark.parametrize("option", [("--minutes", "0"), ("--proposals", "1"), ("--seed", "x")])
def test_a_value_that_cannot_be_is_refused_by_its_option(option: tuple[str, str]) -> None:
    found = warmstart(*option)
    assert found.exit_code == 2 and option[0] in found.stderr


def test_a_learner_that_fails_ends_with_one_line(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "_train", raising(LearnerError("a step failed: memory")))
    found = warmstart("--model", base)
    assert found.exit_code == 1
    assert "envolve: a step failed: memory" in found.stderr


def test_ctrl_c_says_what_is_left(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "_train", raising(KeyboardInterrupt()))
    found = warmstart("--model", base)
    assert found.exit_code == 130
    assert "nothing half made is left" in found.stdout


def test_a_run_without_its_writer_says_how_to_make_one_and_leaves_no_folder(base: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    found = runner.invoke(app, ["run", "--config", "local-writer", f"run.folder={runs}"])
    assert found.exit_code == 2
    assert "policy.model" in found.stderr and "envolve warmstart" in found.stderr
    assert not runs.exists()


def test_the_preset_plays_with_the_writer_and_lets_it_write() -> None:
    config = resolve("local-writer")
    assert config.policy.model == "smollm2-135m-writer"
    assert config.generator.enabled and config.generator.train and not config.grammar.enabled
    assert config.admission.calibrate and not config.review.enabled
    assert set(resolve("local").pool.held_out) == set(config.pool.held_out)
