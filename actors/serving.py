"""What all that answer prompts have in common, an engine here or an endpoint elsewhere.

Invariant: a request that was taken in is finished before its actor leaves; one that comes later is refused, and goes to
another (`actors.solvers`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from actors.solvers import SolverLeaving
from training.policy.chat import Chat
from training.policy.settings import GenerationRequest

QUIET_SECONDS = 1.0
"""Without a refused request, after which nobody is left who has not heard that this solver leaves."""
LOOK_SECONDS = 0.05


class Desk:
    """The requests of one actor."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._under_way = 0
        self._came = 0.0

    @contextmanager
    def request(self, leaving: bool) -> Iterator[None]:
        """Counts a request for as long as the context lasts. Raises SolverLeaving."""
        self._came = time.monotonic()
        if leaving:
            raise SolverLeaving(f"{self._name} takes no more requests")
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    async def closed(self) -> None:
        """Waits until nothing is under way and nobody comes any more."""
        while self._under_way or time.monotonic() - self._came < QUIET_SECONDS:
            await asyncio.sleep(LOOK_SECONDS)


def requests(
    chat: Chat, prompts: Sequence[str], n: int, max_tokens: int, temperature: float
) -> list[GenerationRequest]:
    """Prompts as conversations, `n` samples each."""
    return [
        GenerationRequest(
            messages=tuple(chat.messages(prompt)), n=n, max_tokens=max_tokens, temperature=temperature
        )
        for prompt in prompts
    ]
