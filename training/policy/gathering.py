"""Several requests as one: all of their results, or the first error and none left running."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def all_or_first_error(calls: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """All results; on the first error the other requests are cancelled, so that none runs on unwatched."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
