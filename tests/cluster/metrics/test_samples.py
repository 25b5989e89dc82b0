"""Samples as parquet: by version, apart for each policy, and never many more than one batch needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cluster.metrics.samples import SampleTable


def rows(group: str) -> list[dict[str, Any]]:
    return [{"group": group, "response": f"{group}-{k}"} for k in range(2)]


def test_each_policy_has_a_folder_of_its_own(tmp_path: Path) -> None:
    table = SampleTable(tmp_path, most_groups=4)
    table.keep(rows("own"))
    table.keep(rows("other"))
    table.trained(["own"], step=1, version=1)
    table.trained(["other"], step=1, version=1, policy="big")
    own = pq.read_table(tmp_path / "samples" / "version-000001.parquet")
    other = pq.read_table(tmp_path / "samples" / "big" / "version-000001.parquet")
    assert own.column("response").to_pylist() == ["own-0", "own-1"]
    assert other.column("response").to_pylist() == ["other-0", "other-1"]


def test_a_lone_surrogate_in_what_a_model_wrote_does_not_keep_the_rest_from_being_written(tmp_path: Path) -> None:
    table = SampleTable(tmp_path, most_groups=4)
    rows = [{"group": "g", "reply": reply, "parents": [reply]} for reply in ("half \ud800 a pair", "ä")]
    table.proposals(rows)
    [file] = (tmp_path / "proposals").iterdir()
    assert pq.read_table(file).column("reply").to_pylist() == ["half \\ud800 a pair", "ä"]


def test_the_oldest_groups_are_forgotten_when_no_step_asks_for_them(tmp_path: Path) -> None:
    table = SampleTable(tmp_path, most_groups=2)
    for number in range(5):
        table.keep(rows(f"g{number}"))
    assert table.of([f"g{number}" for number in range(5)]) == rows("g3") + rows("g4")


def test_what_cannot_be_written_is_forgotten_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "samples").write_text("a file is in the way")
    table = SampleTable(tmp_path, most_groups=2)
    table.keep(rows("g"))
    with pytest.raises(OSError):
        table.trained(["g"], step=1, version=1)
    assert table.of(["g"]) == []
