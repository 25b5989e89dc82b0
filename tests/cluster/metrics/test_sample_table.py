"""Rows of groups that wait, without an actor: what is kept, what is forgotten, what is spoiled."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cluster.metrics import samples
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


def test_a_group_that_is_forgotten_while_it_is_written_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, begun, go_on, write = SampleTable(tmp_path, 1), threading.Event(), threading.Event(), samples.write

    def slow(path: Path, rows: list[dict[str, Any]]) -> None:
        begun.set()
        assert go_on.wait(30)
        write(path, rows)

    monkeypatch.setattr(samples, "write", slow)
    table.keep(rows("a"))
    saving = threading.Thread(target=table.save, args=("a",))
    saving.start()
    assert begun.wait(30)
    table.keep(rows("b"))  # waits for nobody
    go_on.set()
    saving.join()
    assert waiting(tmp_path) == set() and table.of(["a", "b"]) == rows("b")


def test_a_file_that_cannot_be_removed_troubles_nobody_and_is_removed_later(tmp_path: Path) -> None:
    kept(table := SampleTable(tmp_path, 1), "a")
    stuck = tmp_path / "waiting" / "a.parquet"
    stuck.unlink()
    stuck.mkdir()  # unlink raises
    kept(table, "b")
    table.trained(["a", "b"], 1, 1)
    stuck.rmdir()
    stuck.write_bytes(b"")
    kept(table, "c")
    assert waiting(tmp_path) == {"c"}


def test_a_group_that_is_forgotten_before_it_is_written_is_no_fault(tmp_path: Path) -> None:
    table = SampleTable(tmp_path, 2)
    for group in "abcd":
        table.keep(rows(group))
    for group in "abcd":
        table.save(group)
    assert waiting(tmp_path) == {"c", "d"}


def test_files_too_many_that_another_process_left_are_gone_with_the_next_save(tmp_path: Path) -> None:
    kept(SampleTable(tmp_path, 9), *"abcdef")
    kept(SampleTable(tmp_path, 2), "g")
    assert waiting(tmp_path) == {"f", "g"}
