"""The server actor: hosts the service over the run's pool, for a trainer elsewhere that takes the learner's place.

Invariant: it listens before it counts as started, and again at the same place after a restart; what it was asked is
finished before the run is stopped, and what comes after that is told to come again. What it answers is
`envpool.exchange.service`'s; what is drawn, the curator's; what is remembered, the pool's.
"""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Any

import uvicorn

from actors.auditing import Auditing
from actors.base import IDLE_SECONDS, Actor
from actors.curator import recipes_of
from actors.lookup import PoolLookup
from actors.peers import Peers, PeerUnavailable
from envpool.answer_counts import AnswerCount
from envpool.contract import Recipe
from envpool.exchange.service.app import Clients, service
from envpool.exchange.service.backend import NothingToAsk
from envpool.exchange.service.hosting import listening, url_of
from envpool.exchange.service.live import LiveBackend
from envpool.execution import Examiner

PLACE = "serving"
"""State of the pool: where clients find the run."""
PATIENCE_SECONDS = 20.0
"""For curator and pool, before a client is told to come again."""
CLOSING_SECONDS = 10
"""For requests that are still under way when the actor stops."""


class ServingRefused(RuntimeError):
    """The service cannot listen; the message says why and the way out."""


class ServerActor(Actor):
    """One HTTP server."""

    async def start(self) -> None:
        settings = self.config.serve
        token = os.environ.get(settings.token_env, "") if settings.token_env else ""
        if settings.token_env and not token:
            raise ServingRefused(
                f"{settings.token_env} is not set on the head node, where the token is to be in it"
            )
        self._near = Peers(self.config.namespace, PATIENCE_SECONDS, wanted=self._is_wanted)
        self._learning: set[asyncio.Task[None]] = set()
        self._clients = Clients()
        self._auditing = Auditing(self)
        examiner = Examiner(self.sandboxes, PoolLookup(self.pool_reader), observe=self._auditing.observe)
        self._backend = LiveBackend(self, self.pool_reader, examiner, self.config.policy.name, self._closed)
        await self._listen(token)
        self.background("serve", self._serve_once, vital=True)
        self.background("audit", self._auditing.once)

    async def choose(self, count: int) -> list[Recipe]:
        """As `Run.choose`. Raises NothingToAsk."""
        if self.wanted.paused:
            raise NothingToAsk("the run is paused; `envolve resume` lets it go on")
        try:
            return recipes_of(await self._near.curator.choose(count))
        except PeerUnavailable as error:
            raise NothingToAsk(str(error)) from error

    async def record_once(self, request: str, count: AnswerCount) -> bool:
        """As `Run.record_once`. Raises NothingToAsk."""
        try:
            return bool(await self._near.pool.record_once(request, [count]))
        except PeerUnavailable as error:
            raise NothingToAsk(str(error)) from error

    def learn(self, count: AnswerCount) -> None:
        """As `Run.learn`: a level that is to rise is tried first, which no client waits for."""
        task = asyncio.create_task(self._learn(count))
        self._learning.add(task)
        task.add_done_callback(self._learnt)

    async def quarantine(self, member: str, reason: str) -> None:
        """As `Run.quarantine`."""
        await self.peers.curator.quarantine(member, reason)

    async def settled(self) -> None:
        """Returns when all that was brought is counted and learnt from; while the run drains nothing new comes."""
        await self.ready()
        while self._backend.under_way or self._learning:
            await asyncio.sleep(IDLE_SECONDS / 5)
        self._auditing.leave()
        await self._auditing.finish()

    def health(self) -> dict[str, Any]:
        if not hasattr(self, "_url"):
            return super().health()
        return super().health() | {"serving": {"url": self._url, "clients": self._clients.to_dict()}}

    def gauges(self) -> dict[str, float]:
        if not hasattr(self, "_backend"):
            return {}
        tally = self._backend.tally
        return {
            "questions": tally["questions"],
            "answers": tally["answers"],
            "infrastructure_failures": tally["failures"],
            "under_way": self._backend.under_way,
            "clients": len(self._clients.to_dict()),
            **self._auditing.metrics(),
        }

    async def drain(self) -> None:
        self._leaving = True
        if hasattr(self, "_url"):
            await self.settled()
        await super().drain()

    async def stop(self) -> None:
        await super().stop()
        if hasattr(self, "_auditing"):
            await self._auditing.end()
        if hasattr(self, "_server"):
            self._server.should_exit = True
            await asyncio.wait({self._serving})
            await asyncio.gather(*self._learning, return_exceptions=True)

    def _closed(self) -> str:
        """Why nothing can be asked at the moment."""
        if self._leaving or self.draining:
            return "the run is being stopped"
        return "" if self.phase == "training" else "the run is starting"

    async def _listen(self, token: str) -> None:
        """Serve the backend at its place. Raises ServingRefused."""
        listener = await self._listener(token)
        app = service(self._backend, token=token, clients=self._clients)
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="off",
                timeout_graceful_shutdown=CLOSING_SECONDS,
            )
        )
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))
        self._url = url_of(listener)

    async def _listener(self, token: str) -> socket.socket:
        """As configured; where any port may be it, the one of this run's last life is tried first."""
        host, port = self.config.serve.host, self.config.serve.port
        before = (await self.peers.pool.state(PLACE) or {}).get("port", 0)
        faults = []
        for each in dict.fromkeys([port or before, port]):
            try:
                found = listening(host, each, token)
            except OSError as error:
                faults.append(error)
                continue
            await self.peers.pool.put_state(PLACE, {"port": found.getsockname()[1]})
            return found
        raise ServingRefused(
            f"nothing can listen at {host}:{port} of the head node ({faults[-1]}); set serve.port"
        )

    async def _serve_once(self) -> None:
        """As long as the server lives; one that ended by itself is a failure."""
        await self.idle("")
        if self._serving.done() and not self._server.should_exit:
            raise ServingRefused(f"the server ended: {self._serving.exception()}")

    async def _learn(self, count: AnswerCount) -> None:
        rows = [
            {"success": index < count.successes, "parsed": index < count.parsed}
            for index in range(count.attempts)
        ]
        await self.peers.metrics.samples(rows, False, self.config.policy.name)
        await self.peers.curator.learn([count])

    def _learnt(self, task: asyncio.Task[None]) -> None:
        self._learning.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._note("learn", f"{type(error).__name__}: {error}")
