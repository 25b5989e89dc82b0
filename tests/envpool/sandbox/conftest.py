"""One sandbox with tight limits for the tests of this folder."""

from collections.abc import Iterator

import pytest

from envpool.sandbox import Sandbox, SandboxLimits

TIGHT = SandboxLimits(cpu_seconds=0.2, wall_seconds=10.0, memory_mib=64, output_kib=64, open_children=4)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(TIGHT) as started:
        yield started
