from collections.abc import Iterator

import pytest

from envpool.sandbox import LocalExecutor


@pytest.fixture(scope="package")
def executor() -> Iterator[LocalExecutor]:
    executor = LocalExecutor()
    yield executor
    executor.close()
