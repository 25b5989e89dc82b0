"""What several test packages share: a closed machine's Ray, and no deadline on an example, since machines are slow."""

from __future__ import annotations

import os

from hypothesis import settings

# A closed machine: the tests' Ray clusters take no tokens.
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
# What other programs of the machine use up is no reason for Ray to kill an actor of a test.
os.environ.setdefault("RAY_memory_monitor_refresh_ms", "0")
