"""What several test packages share: a closed machine's Ray, no deadline on an example, since machines are slow, and
which tests may run beside each other: whatever starts Ray, vLLM or verl follows one another in one worker of
pytest-xdist, since two clusters starve each other on two cores; all other tests share what is left of the machine.
"""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

# A closed machine: the tests' Ray clusters take no tokens.
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
# A shell ignores Ctrl-C for what it runs in the background, and so would all that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# What other programs of the machine use up is no reason for Ray to kill an actor of a test.
os.environ.setdefault("RAY_memory_monitor_refresh_ms", "0")

CLUSTERS = (
    "tests/actors/", "tests/cluster/", "tests/training/",
    "tests/test_chaos", "tests/test_cluster", "tests/test_end_to_end", "tests/test_survival",
    "tests/test_verl_elsewhere",
)  # fmt: skip
"""Where tests start Ray, vLLM or verl: each wants most of a small machine."""


def starts_a_cluster(nodeid: str) -> bool:
    return nodeid.startswith(CLUSTERS)


class Scheduling(LoadScopeScheduling):
    """Tests that start a cluster keep to one worker; other modules go to whichever is free."""

    def _split_scope(self, nodeid: str) -> str:
        return "clusters" if starts_a_cluster(nodeid) else nodeid.split("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling:
    """As xdist asks for it, where there are several workers."""
    return Scheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Beside others those with a cluster come first, since they take longest; else in the order of the files."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: not starts_a_cluster(item.nodeid))
