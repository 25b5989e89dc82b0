"""What several test packages share."""

from __future__ import annotations

import os

# A closed machine: the tests' Ray clusters take no tokens.
os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
