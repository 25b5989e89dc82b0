"""The audit hook, in processes of its own: a hook cannot be taken out again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BRICK = ROOT / "envpool" / "bricks" / "strings" / "upper_case.py"
SEED = ROOT / "envpool" / "seeds" / "inversion_count.py"


def found_in(code: str) -> list[str]:
    """The findings of a fresh process that ran `code` with the hook in place."""
    script = (
        "import sys\nfrom actors import code_watch\ncode_watch.install()\n"
        f"{code}\nprint(*code_watch.findings(), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True, timeout=60
    )
    return done.stdout.split("\n")[:-1] if done.stdout.strip() else []


@pytest.mark.parametrize(
    "code",
    [
        f"compile(open({str(BRICK)!r}).read(), 'x', 'exec')",
        f"exec(open({str(SEED)!r}).read(), {{}})",
        f"import ast; ast.parse(open({str(BRICK)!r}, 'rb').read())",
        "import envpool.bricks.strings.upper_case",
        f"import runpy; runpy.run_path({str(SEED)!r})",
    ],
    ids=["compiled", "executed", "parsed", "imported", "run as a script"],
)
def test_pool_source_that_is_compiled_executed_or_imported_is_noticed(code: str) -> None:
    assert found_in(code)


def test_the_projects_own_modules_are_no_findings() -> None:
    code = "import envpool, envpool.contract, envpool.shipped, envpool.admission, actors.validator, cluster.driver"
    assert found_in(code) == []


def test_reading_pool_source_as_text_is_no_finding() -> None:
    assert found_in(f"text = open({str(BRICK)!r}).read(); len(text)") == []


def test_findings_are_bounded() -> None:
    code = f"text = open({str(BRICK)!r}).read()\nfor k in range(50): compile(text, str(k), 'exec')"
    assert len(found_in(code)) == 20
