"""Learner checkpoints on disk: which are whole, which is newest, which may go.

Layout: `<root>/version-000012/` holds verl's files for every rank and, written last, `complete.json` with the size of
each. Invariant: a folder counts only when its marker is there and every file has the size the marker names, so that a
checkpoint torn by a kill at any moment is passed over. It reads and writes no tensor.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MARKER = "complete.json"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A whole checkpoint; `extra` is whatever the saver wanted kept beside the weights."""

    folder: Path
    version: int
    extra: dict[str, Any]


def folder_of(root: Path, version: int) -> Path:
    """Where the checkpoint of a version lies."""
    return root / f"version-{version:06d}"


def complete(folder: Path, version: int, extra: dict[str, Any]) -> Checkpoint:
    """Declare a folder whole: write its marker."""
    sizes = {str(path.relative_to(folder)): path.stat().st_size for path in _files(folder)}
    partial = folder / f".{MARKER}"
    partial.write_text(json.dumps({"version": version, "extra": extra, "sizes": sizes}))
    os.replace(partial, folder / MARKER)
    return Checkpoint(folder, version, extra)


def whole(root: Path) -> list[Checkpoint]:
    """All whole checkpoints, oldest first."""
    found = [read(folder) for folder in root.glob("version-*")] if root.is_dir() else []
    return sorted((item for item in found if item is not None), key=lambda item: item.version)


def latest(root: Path) -> Checkpoint | None:
    """The newest whole checkpoint."""
    return next(reversed(whole(root)), None)


def read(folder: Path) -> Checkpoint | None:
    """The checkpoint in a folder, or None where it is torn."""
    try:
        marker = json.loads((folder / MARKER).read_text())
        if any((folder / name).stat().st_size != size for name, size in marker["sizes"].items()):
            return None
        return Checkpoint(folder, marker["version"], marker["extra"])
    except (OSError, ValueError, KeyError):
        return None


def prune(root: Path, keep: int) -> None:
    """Remove all but the newest `keep` whole checkpoints, and torn ones older than the newest whole one."""
    checkpoints = whole(root)
    kept = {item.folder for item in checkpoints[-keep:]}
    newest = checkpoints[-1].folder.name if checkpoints else ""
    for folder in root.glob("version-*"):
        if folder not in kept and folder.name < newest:
            (folder / MARKER).unlink(missing_ok=True)
            shutil.rmtree(folder)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.name != MARKER]
