"""What several test packages share: a closed machine's Ray, no deadline on an example, since machines are slow, and
which tests may run beside each other: whole runs follow one another in one worker of pytest-xdist. On two cores nothing
does by default: two Ray clusters starve each other there.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

# A closed machine: the tests' Ray clusters take no tokens.
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
# What other programs of the machine use up is no reason for Ray to kill an actor of a test.
os.environ.setdefault("RAY_memory_monitor_refresh_ms", "0")

RUNS = ("test_cluster.py", "test_end_to_end.py", "test_submit.py", "test_chaos.py")
"""Whole runs: each wants most of a small machine's memory."""


class Scheduling(LoadScopeScheduling):
    """Whole runs keep to one worker; other modules go to whichever is free."""

    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.split("::")[0]
        return "runs" if Path(module).name in RUNS else module


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling:
    """As xdist asks for it, where there are several workers."""
    return Scheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Beside others whole runs come first, since they take longest; else in the order of the files."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: item.path.name not in RUNS)
