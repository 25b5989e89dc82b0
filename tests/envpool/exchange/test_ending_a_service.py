"""What a signal does to a service: what is under way is finished, or told to come again, and the caller hears which."""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest

from envpool.contract import Outcome, Recipe, Scored
from envpool.exchange.service import hosting
from envpool.exchange.service.app import service
from envpool.exchange.service.backend import Question
from envpool.exchange.service.messages import packed

SCORE = {"client": "t", "request": "r", "recipe": Recipe("p1", 7, 2).to_dict(), "responses": ["1"]}


class Slow:
    """Judges once it is let."""

    def __init__(self) -> None:
        self.asked, self.let = asyncio.Event(), asyncio.Event()

    async def sample(self, client: str, count: int) -> list[Question]:
        return []

    async def score(
        self, client: str, request: str, recipe: Recipe, responses: Sequence[str]
    ) -> list[Outcome]:
        self.asked.set()
        await self.let.wait()
        return [Scored(1.0)]

    async def status(self) -> dict[str, Any]:
        return {}


async def ended(backend: Slow, while_ending: Callable[[], None]) -> tuple[bool, httpx.Response]:
    """Whether all was answered, and the answer to a request that was under way at the signal."""
    listener = hosting.listening("127.0.0.1", 0, "")
    serving = asyncio.create_task(hosting.serve(service(backend), listener, lambda: None))
    async with httpx.AsyncClient(base_url=hosting.url_of(listener), timeout=60) as client:
        headers = {"content-type": "application/json"}
        asking = asyncio.create_task(client.post("/v1/score", content=packed(SCORE), headers=headers))
        await backend.asked.wait()
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.2)
        while_ending()
        finished = await serving
        backend.let.set()
        return finished, await asking


async def test_what_is_under_way_is_finished() -> None:
    backend = Slow()
    finished, reply = await ended(backend, backend.let.set)
    assert (finished, reply.status_code) == (True, 200)


async def test_what_takes_too_long_is_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "CLOSING_SECONDS", 1)
    finished, reply = await ended(Slow(), lambda: None)
    assert (finished, reply.status_code, reply.headers["retry-after"]) == (False, 503, "1")
    assert "come again" in reply.json()["detail"]


async def test_a_second_signal_waits_for_nothing_and_says_so() -> None:
    finished, _ = await ended(Slow(), lambda: os.kill(os.getpid(), signal.SIGINT))
    assert not finished
