"""Ctrl-C while the commands load is an interrupt like any other."""

import builtins
import subprocess
import sys
from typing import Any

import pytest

from cluster import entry


def test_what_was_typed_comes_after_what_the_starter_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["launch.py", "--help"])
    with pytest.raises(SystemExit, match="0"):
        entry.main("run")
    assert "envolve run [OPTIONS]" in capsys.readouterr().out


def test_ctrl_c_while_the_commands_load_ends_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def interrupted(name: str, *more: Any) -> Any:
        if name == "cluster.cli":
            raise KeyboardInterrupt
        return load(name, *more)

    monkeypatch.setattr(builtins, "__import__", interrupted)
    with pytest.raises(SystemExit, match="130"):
        entry.main()


def test_the_starter_itself_loads_none_of_the_commands() -> None:
    seen = "import sys, cluster.entry; print([name for name in sys.modules if name.startswith('cluster.')])"
    loaded = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "['cluster.entry']"
