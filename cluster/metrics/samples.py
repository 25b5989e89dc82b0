"""Judged responses and proposals as parquet files.

    samples/version-000012.parquet         the responses that version 12 of the run's own policy was trained on
    samples/NAME/version-000003.parquet    the same of an attached policy
    proposals/GROUP.parquet                the proposals that came of one prompt

Invariant: a file is whole or not there. Rows of groups that no step asks for are forgotten, oldest first.
"""

from __future__ import annotations

import os
from pathlib import Path

from cluster.metrics.sink import Record


class SampleTable:
    """Rows of trainable groups by group, until the update that was made of them."""

    def __init__(self, folder: Path, most_groups: int) -> None:
        self._folder = folder
        self._most = most_groups
        self._rows: dict[str, list[Record]] = {}

    def keep(self, rows: list[Record], most_groups: int = 0) -> None:
        """One group's rows; `most_groups` raises the limit for all."""
        self._most = max(self._most, most_groups)
        self._rows[rows[0]["group"]] = rows
        while len(self._rows) > self._most:
            self._rows.pop(next(iter(self._rows)))

    def of(self, groups: list[str]) -> list[Record]:
        """Rows of these groups that are here."""
        return [row for group in groups for row in self._rows.get(group, [])]

    def trained(self, groups: list[str], step: int, version: int, policy: str = "") -> None:
        """Write the rows that a version was trained on, and forget them. Raises OSError."""
        rows = [row | {"step": step, "trained": True} for row in self.of(groups)]
        for group in groups:
            self._rows.pop(group, None)
        if rows:
            write(self._folder / "samples" / policy / f"version-{version:06d}.parquet", rows)

    def proposals(self, rows: list[Record]) -> None:
        """Write the proposals of one prompt; the same ones again replace them. Raises OSError."""
        write(self._folder / "proposals" / f"{rows[0]['group']}.parquet", rows)


def write(path: Path, rows: list[Record]) -> None:
    """Rows as a parquet file, whole or not at all. Raises OSError."""
    # Only here: whoever merely names the metrics actor need not pay for it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".tmp")
    pq.write_table(pa.Table.from_pylist(rows), scratch)
    os.replace(scratch, path)
