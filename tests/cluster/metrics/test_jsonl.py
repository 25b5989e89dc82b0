"""`metrics.jsonl`: appended for as long as the run lives, whatever a kill left."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cluster.metrics.jsonl import JsonlSink


def kinds(path: Path) -> list[str]:
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line)["kind"])
        except json.JSONDecodeError:
            found.append("torn")
    return found


def test_a_run_that_goes_on_appends(tmp_path: Path) -> None:
    path = tmp_path / "run" / "metrics.jsonl"
    for kind in ("first", "second"):
        sink = JsonlSink(path)
        sink.event(kind, {"text": "a\nb \ud800"})
        sink.step({"step": 1})
        sink.close()
    assert kinds(path) == ["first", "step", "second", "step"]


@given(cut=st.integers(min_value=1, max_value=60))
def test_wherever_a_kill_cuts_the_last_line_the_next_one_is_whole(cut: int, tmp_path_factory: object) -> None:
    path = tmp_path_factory.mktemp("run") / "metrics.jsonl"  # type: ignore[attr-defined]
    first = JsonlSink(path)
    first.event("whole", {})
    first.event("cut", {"number": 1})
    first.close()
    path.write_bytes(path.read_bytes()[:-cut])
    again = JsonlSink(path)
    again.event("next", {})
    again.close()
    found = kinds(path)
    assert found[-1] == "next"
    assert found[:-1] in (["whole", "cut"], ["whole", "torn"], ["whole"], ["torn"])
