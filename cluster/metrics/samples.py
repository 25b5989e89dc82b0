"""Judged responses and proposals as parquet files.

    samples/version-000012.parquet         the responses that version 12 of the run's own policy was trained on
    samples/NAME/version-000003.parquet    the same of an attached policy
    waiting/GROUP.parquet                  the responses of a group that waits for its update
    proposals/GROUP.parquet                the proposals that came of one prompt

Invariant: a file is whole or not there, and whoever opens the table again has what waits. Rows of groups that no step
asks for are forgotten, oldest first: by `keep` in memory alone, since whoever calls it may neither wait nor fail, and
with their files by the next `save`.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cluster.metrics.sink import Record

logger = logging.getLogger(__name__)


class SampleTable:
    """Rows of trainable groups by group, until the update that was made of them; on disk too, as groups are."""

    def __init__(self, folder: Path, most_groups: int) -> None:
        self._folder = folder
        self._most = most_groups
        self._writing = threading.Lock()
        self._rows = {path.stem: rows for path in self._oldest_first() if (rows := read(path))}

    def keep(self, rows: list[Record], most_groups: int = 0) -> None:
        """One group's rows; `most_groups` raises the limit for all. The oldest of those too many are forgotten."""
        self._most = max(self._most, most_groups)
        self._rows[rows[0]["group"]] = rows
        too_many = max(0, len(self._rows) - self._most)
        for group in list(self._rows)[:too_many]:  # also where nothing can be written any more
            self._rows.pop(group, None)

    def save(self, group: str) -> None:
        """Write a group that waits, and remove the files of those forgotten. Raises OSError."""
        with self._writing:
            if rows := self._rows.get(group):  # else its update came first, or others took its place
                write(self._waiting(group), rows)
            for path in self._waiting("").parent.glob("*.parquet"):
                if path.stem not in self._rows:
                    _remove(path)

    def of(self, groups: list[str]) -> list[Record]:
        """Rows of these groups that are here."""
        return [row for group in groups for row in self._rows.get(group, [])]

    def trained(self, groups: list[str], step: int, version: int, policy: str = "") -> None:
        """Write the rows that a version was trained on, and forget them, written or not. Raises OSError."""
        with self._writing:
            rows = [row | {"step": step, "trained": True} for row in self.of(groups)]
            try:
                if rows:
                    write(self._folder / "samples" / policy / f"version-{version:06d}.parquet", rows)
            finally:
                for group in groups:
                    self._forget(group)

    def proposals(self, rows: list[Record]) -> None:
        """Write the proposals of one prompt; the same ones again replace them. Raises OSError."""
        write(self._folder / "proposals" / f"{rows[0]['group']}.parquet", rows)

    def _forget(self, group: str) -> None:
        self._rows.pop(group, None)
        _remove(self._waiting(group))

    def _oldest_first(self) -> list[Path]:
        return sorted(self._waiting("").parent.glob("*.parquet"), key=lambda path: path.stat().st_mtime_ns)

    def _waiting(self, group: str) -> Path:
        return self._folder / "waiting" / f"{group}.parquet"


def _remove(path: Path) -> None:
    """Where it cannot be, the next save tries again: a file too many is no reason to lose others."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def write(path: Path, rows: list[Record]) -> None:
    """Rows as a parquet file, whole or not at all. Raises OSError."""
    # Only here: whoever merely names the metrics actor need not pay for it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".tmp")
    pq.write_table(pa.Table.from_pylist([_encodable(row) for row in rows]), scratch)
    os.replace(scratch, path)


def _encodable(value: Any) -> Any:
    """The same with lone surrogates, which a model may write and no file of text holds, as escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping):
        return {key: _encodable(each) for key, each in value.items()}
    return [_encodable(each) for each in value] if isinstance(value, list) else value


def read(path: Path) -> list[Record]:
    """The rows of a parquet file; none of one that a loss of power spoiled, which is said."""
    import pyarrow.parquet as pq

    try:
        return list(pq.read_table(path).to_pylist())
    except (OSError, ValueError) as error:
        logger.warning("%s is left out: %s", path, error)
        return []
