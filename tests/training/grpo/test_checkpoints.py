"""Which checkpoints count."""

from __future__ import annotations

from pathlib import Path

from training.grpo import checkpoints


def written(root: Path, version: int, whole: bool = True) -> Path:
    folder = checkpoints.folder_of(root, version)
    (folder / "huggingface").mkdir(parents=True)
    (folder / "model.pt").write_bytes(b"x" * 100)
    (folder / "huggingface" / "config.json").write_text("{}")
    if whole:
        checkpoints.complete(folder, version, {"step": version * 10})
    return folder


def test_the_newest_whole_checkpoint_is_found(tmp_path: Path) -> None:
    for version in (2, 10, 9):
        written(tmp_path, version)
    found = checkpoints.latest(tmp_path)
    assert found is not None and (found.version, found.extra) == (10, {"step": 100})


def test_a_checkpoint_without_its_marker_is_passed_over(tmp_path: Path) -> None:
    written(tmp_path, 1)
    written(tmp_path, 2, whole=False)
    found = checkpoints.latest(tmp_path)
    assert found is not None and found.version == 1


def test_a_checkpoint_with_a_short_or_missing_file_is_passed_over(tmp_path: Path) -> None:
    written(tmp_path, 1)
    (written(tmp_path, 2) / "model.pt").write_bytes(b"x" * 99)
    (written(tmp_path, 3) / "model.pt").unlink()
    found = checkpoints.latest(tmp_path)
    assert found is not None and found.version == 1


def test_a_broken_marker_is_passed_over(tmp_path: Path) -> None:
    (written(tmp_path, 1) / checkpoints.MARKER).write_text('{"version": 1, "si')
    assert checkpoints.latest(tmp_path) is None


def test_only_the_last_whole_ones_are_kept_and_old_torn_ones_go(tmp_path: Path) -> None:
    written(tmp_path, 1, whole=False)
    for version in (2, 3, 4):
        written(tmp_path, version)
    written(tmp_path, 5, whole=False)
    checkpoints.prune(tmp_path, keep=2)
    assert sorted(folder.name for folder in tmp_path.iterdir()) == [
        "version-000003",
        "version-000004",
        "version-000005",
    ]


def test_an_empty_root_has_no_checkpoint(tmp_path: Path) -> None:
    assert checkpoints.latest(tmp_path / "absent") is None
