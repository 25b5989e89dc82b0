"""One sandbox with tight limits for the tests of this folder."""

from collections.abc import Iterator

import pytest
from small_limits import TIGHT

from envpool.sandbox import Sandbox


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(TIGHT) as started:
        yield started
