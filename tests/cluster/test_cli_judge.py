"""`envolve judge` in a stranger's hands: files, folders and standard input, reasons, exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from rich.progress import Progress, TaskID
from typer.testing import CliRunner

from cluster.cli import app
from envpool.seeds import read_seeds
from tests.cluster.sample import BROKEN, PROGRAM

REPLY = f"Here is one.\n\n```python\n{PROGRAM}```\n\nIt counts."
SEEDS = dict(read_seeds())


def judge(*arguments: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["judge", *map(str, arguments)], input=stdin)


def test_a_reply_on_standard_input_is_judged_like_a_file() -> None:
    told = judge("-", "--json", stdin=REPLY)
    assert (told.exit_code, json.loads(told.stdout)["admitted"]) == (0, True)
    assert "rejected at reply: no program in the reply" in judge("-", stdin="I would rather not.").stdout


def test_a_folder_is_judged_file_by_file_with_a_funnel_below(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "good.txt").write_text(REPLY, encoding="utf-8")
    (tmp_path / "inner" / "bad.py").write_text(BROKEN, encoding="utf-8")
    (tmp_path / "notes.log").write_text("not one of them", encoding="utf-8")
    told = judge(tmp_path, "--jobs", "2")
    assert told.exit_code == 1
    assert "good.txt  passes" in told.stdout
    assert "bad.py  rejected at imports: imports os, which is not allowed" in told.stdout
    assert "1 of 2 pass" in told.stdout and "notes" not in told.stdout


def test_a_gate_that_is_asked_twice_is_named_once_and_the_trail_has_both_looks() -> None:
    told = judge("-", stdin=REPLY).stdout
    passed = [step.split()[0] for step in told.partition("passed, in ms: ")[2].split(", ")]
    assert passed == ["size", "L1", "duplicate", "L2", "L3", "L4", "L5", "behaviour"]
    trail = json.loads(judge("-", "--json", stdin=REPLY).stdout)["trail"]
    assert list(dict.fromkeys(step["gate"] for step in trail)) == passed
    assert [step["gate"] for step in trail].count("duplicate") == 2
    assert all(step["passed"] is True and step["seconds"] >= 0 for step in trail)


def test_who_falls_by_its_imports_or_the_scan_came_to_l1(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text(REPLY, encoding="utf-8")
    (tmp_path / "imports.py").write_text(BROKEN, encoding="utf-8")
    (tmp_path / "scan.py").write_text(PROGRAM.replace("sum(n", "eval('0') + sum(n"), encoding="utf-8")
    told = judge(tmp_path).stdout
    assert "scan.py  rejected at scan" in told
    rows = [line.split() for line in told.splitlines()]
    assert ["L1,", "imports,", "scan", "3", "2"] in [row[:5] for row in rows]
    assert ["duplicate", "1", "0"] in [row[:3] for row in rows]


def test_a_copy_is_told_with_the_name_of_what_it_copies(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    seed = SEEDS["inversion_count"]
    file.write_text(seed.replace("class InversionCount", "class Mine"), encoding="utf-8")
    known = tmp_path / "known"
    known.mkdir()
    (known / "inversion_count.py").write_text(seed, encoding="utf-8")
    told = judge(file, "--against", known)
    assert "rejected at duplicate" in told.stdout and "as InversionCount (p" in told.stdout
    assert told.stderr == "learning 1 known programs first\n"


def test_a_terminal_shows_how_far_it_is_with_what_it_learns_for_one_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[bool] = []

    class Watched(Progress):
        def add_task(self, description: str, *arguments: Any, **named: Any) -> TaskID:
            shown.append(not self.disable and description == "known programs")
            return super().add_task(description, *arguments, **named)

    monkeypatch.setattr("cluster.cli.judge.Progress", Watched)
    monkeypatch.setattr("cluster.cli.judge._watched", lambda: True)
    (tmp_path / "known.py").write_text(SEEDS["inversion_count"], encoding="utf-8")
    told = judge("-", "--against", tmp_path / "known.py", stdin=REPLY)
    assert (told.exit_code, shown[0]) == (0, True)
    assert "learning" not in told.stderr


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nowhere.py"], "nowhere.py cannot be read"),
        (["-", "--against", "sedes"], "did you mean 'seeds'"),
        (["empty"], "holds no candidates"),
    ],
)
def test_what_cannot_be_read_ends_with_one_line_and_code_two(
    arguments: list[str], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    told = judge(*arguments, stdin=REPLY)
    assert told.exit_code == 2
    assert word in told.stderr and len(told.stderr.splitlines()) == 1


def test_a_reason_cannot_steer_the_terminal() -> None:
    hostile = PROGRAM.replace("import random\n", "import random\nimport no\x1b[2Jmodule\n", 1)
    told = judge("-", stdin=f"```python\n{hostile}```")
    assert told.exit_code == 1
    assert "\x1b" not in told.stdout
