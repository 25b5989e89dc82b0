"""The sandbox's own documentation is true: its examples run on a bare interpreter and print what it says they do."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import envpool.sandbox
from envpool.sandbox import FaultKind, Mode
from envpool.sandbox.ladder import Rung

HOME = Path(envpool.sandbox.__file__).parent
TEXT = (HOME / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\s+```text\n(.*?)```", TEXT, re.DOTALL)


def bare(code: str) -> str:
    """What the code prints where nothing but the standard library and this package can be imported."""
    done = subprocess.run(
        [sys.executable, "-S", "-P", "-B", "-c", code],
        cwd="/", env={"PYTHONPATH": str(HOME.parents[1])}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize(("code", "printed"), EXAMPLES, ids=["calls", "modes", "a solution"])
def test_an_example_runs_with_the_standard_library_alone_and_prints_what_stands_below_it(
    code: str, printed: str
) -> None:
    assert bare(code) == printed


def test_every_example_is_tried() -> None:
    assert TEXT.count("```python") == len(EXAMPLES) == 3


@pytest.mark.parametrize("name", envpool.sandbox.__all__)
def test_every_public_name_is_there_and_says_what_it_is(name: str) -> None:
    public = getattr(envpool.sandbox, name)
    assert not callable(public) or public.__doc__, name


def test_all_of_it_can_be_imported_with_the_standard_library_alone() -> None:
    names = sorted(f"envpool.sandbox.{path.stem}" for path in HOME.glob("*.py") if path.stem != "__init__")
    assert "envpool.sandbox.doctor" in names and "envpool.sandbox.audit" in names
    told = bare(f"import importlib, sys\nfor name in {names!r}: importlib.import_module(name)\nprint('all')")
    assert told == "all\n"


def test_every_mode_fault_and_rung_is_told_of() -> None:
    assert [word for word in (*Mode, *FaultKind, *Rung) if f"`{word}`" not in TEXT] == []
