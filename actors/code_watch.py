"""An audit hook that notices pool source compiled, executed or imported outside the sandbox's child.

Invariant: once installed it cannot be removed, and a finding is kept for the actor's report. It costs a string
search per compilation, so it is for tests and for who wants proof, not on by default. It does not prevent:
the sandbox does.
"""

from __future__ import annotations

import sys
from typing import Any

# What every pool program must contain, whatever else is in it: the base class and one of the contract's methods.
MARKS = ("Environment", "def sample")
_findings: list[str] = []


def install() -> None:
    """Watch this process from now on."""
    sys.addaudithook(_hook)


def findings() -> list[str]:
    """What was seen: one line a finding, at most 20."""
    return list(_findings)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "compile":
        _inspect(arguments[0], str(arguments[1]))
    elif event == "import" and str(arguments[0]).startswith(("envpool.seeds.", "envpool.bricks.")):
        _note(f"import of {arguments[0]}")


def _inspect(source: Any, filename: str) -> None:
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    if isinstance(text, str) and all(mark in text for mark in MARKS) and not _is_contract(filename):
        _note(f"compile of {filename}: {text[:80]!r}")


def _is_contract(filename: str) -> bool:
    return filename.replace("\\", "/").endswith(("envpool/contract.py", "actors/code_watch.py"))


def _note(finding: str) -> None:
    if len(_findings) < 20:
        _findings.append(finding)
