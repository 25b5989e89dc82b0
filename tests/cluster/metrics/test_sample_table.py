"""Rows of groups that wait, without an actor: what is kept, what is forgotten, what is spoiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from cluster.metrics.samples import SampleTable


def rows(group: str) -> list[dict[str, Any]]:
    return [{"group": group, "response": f"{group}-{k}"} for k in range(2)]


def kept(table: SampleTable, *groups: str) -> None:
    for group in groups:
        table.keep(rows(group))
        table.save(group)


def waiting(folder: Path) -> set[str]:
    return {path.stem for path in (folder / "waiting").glob("*")}


def test_the_oldest_groups_that_wait_are_forgotten_first_on_disk_too(tmp_path: Path) -> None:
    kept(table := SampleTable(tmp_path, 2), "a", "b", "c")
    assert waiting(tmp_path) == {"b", "c"}
    assert table.of(["a", "b", "c"]) == rows("b") + rows("c")
    kept(again := SampleTable(tmp_path, 2), "d")
    assert waiting(tmp_path) == {"c", "d"}
    assert again.of(["b"]) == []


def test_what_a_version_was_trained_on_waits_no_longer(tmp_path: Path) -> None:
    kept(SampleTable(tmp_path, 4), "a", "b")
    SampleTable(tmp_path, 4).trained(["a", "unknown"], 3, 7)
    assert waiting(tmp_path) == {"b"}
    found = pq.read_table(tmp_path / "samples" / "version-000007.parquet").to_pylist()
    assert found == [row | {"step": 3, "trained": True} for row in rows("a")]


def test_a_group_whose_update_came_before_its_file_leaves_none(tmp_path: Path) -> None:
    table = SampleTable(tmp_path, 4)
    table.keep(rows("a"))
    table.trained(["a"], 1, 1)
    table.save("a")
    assert waiting(tmp_path) == set()


def test_a_spoiled_file_costs_its_own_rows_only(tmp_path: Path) -> None:
    kept(SampleTable(tmp_path, 4), "a", "b")
    (tmp_path / "waiting" / "a.parquet").write_bytes(b"")
    assert SampleTable(tmp_path, 4).of(["a", "b"]) == rows("b")
