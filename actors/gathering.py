"""Changes of the pool that travel together: one call to the pool actor for all that an actor wants written by then.

Invariant: every caller gets its own answer or its own error, after its change is durable; the changes of an actor
arrive in the order they were asked for, since one call is under way at a time. Nothing waits for a timer: an idle
actor's change leaves at once, and what comes while a call is under way goes with the next one. A call that has to be
repeated after the pool's death repeats all its changes, each of which bears it (`actors.pool`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from envpool.store import StoreError

MOST_CHANGES = 256
WRITES = frozenset({"admit", "reject", "transition", "record", "set_level", "put_state"})
Change = tuple[str, tuple[Any, ...]]
"""A method of the pool actor and its arguments."""
PORTABLE = (ValueError, TypeError, KeyError, RuntimeError, StoreError)


class Gathering:
    """The changes of one actor; `send` takes a list of them to the pool and returns their results in order."""

    def __init__(self, send: Callable[[list[Change]], Awaitable[list[Any]]]) -> None:
        self._send = send
        self._waiting: list[tuple[Change, asyncio.Future[Any]]] = []
        self._sending: asyncio.Task[None] | None = None

    async def write(self, method: str, args: tuple[Any, ...]) -> Any:
        """What the change returns once it is durable; raises what it raised."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(((method, args), answer))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send_all())
        return await answer

    async def _send_all(self) -> None:
        try:
            while self._waiting:
                together, self._waiting = self._waiting[:MOST_CHANGES], self._waiting[MOST_CHANGES:]
                await self._send_some(together)
        finally:
            self._sending = None

    async def _send_some(self, together: list[tuple[Change, asyncio.Future[Any]]]) -> None:
        try:
            results = await self._send([change for change, _ in together])
        except Exception as error:  # noqa: BLE001 - each caller gets it
            results = [error] * len(together)
        for (_, answer), result in zip(together, results, strict=True):
            if answer.done():  # its caller was cancelled
                continue
            if isinstance(result, BaseException):
                answer.set_exception(result)
            else:
                answer.set_result(result)


def portable(error: BaseException) -> BaseException:
    """The error itself where another process can surely read it, else its text."""
    return error if type(error) in PORTABLE else RuntimeError(f"{type(error).__name__}: {error}")
