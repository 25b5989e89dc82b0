"""Requests that travel together: one call for all that an actor wants of another by then, such as changes of the pool.

Invariant: every caller gets its own answer or its own error, from the pool after its change is durable. Where one call
is under way at a time, requests arrive in the order they were asked for. Nothing waits for a timer: the request of an
idle actor leaves at once, and what comes while calls are under way goes with the next one. A call that has to be
repeated after the peer's death repeats all its requests, each of which bears it (`actors.pool`, `actors.sandbox`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from envpool.store import StoreError

MOST_CHANGES = 256
WRITES = frozenset({"admit", "reject", "transition", "record", "set_level", "put_state", "distrust"})
Change = tuple[str, tuple[Any, ...]]
"""A method of the pool actor and its arguments."""
PORTABLE = (ValueError, TypeError, KeyError, RuntimeError, StoreError)


class Gathering:
    """The requests of one actor; `send` takes a list of them and returns their results in order.

    At most `at_once` such calls are under way, of at most `most` requests each.
    """

    def __init__(
        self, send: Callable[[list[Change]], Awaitable[list[Any]]], at_once: int = 1, most: int = MOST_CHANGES
    ) -> None:
        self._send = send
        self._most = most
        self._at_once = at_once
        self._waiting: list[tuple[Change, asyncio.Future[Any]]] = []
        self._sending: set[asyncio.Task[None]] = set()

    async def write(self, method: str, args: tuple[Any, ...]) -> Any:
        """What the request returns; raises what it raised."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append(((method, args), answer))
        if len(self._sending) < self._at_once:
            self._sending.add(asyncio.create_task(self._send_all()))
        return await answer

    async def _send_all(self) -> None:
        try:
            while self._waiting:
                together, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._send_some(together)
        finally:
            self._sending.discard(asyncio.current_task())

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
