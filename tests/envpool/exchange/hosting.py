"""A service on a real socket, in a thread of its own, that can be taken away and brought back at the same port."""

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Self

import uvicorn

from envpool.exchange.service.app import service
from envpool.exchange.service.backend import Backend
from envpool.exchange.service.gate import ServiceLimits

Opening = Callable[[], AbstractAsyncContextManager[Backend]]


class Hosted:
    """While it is entered, the backend that `opening` makes is served at `url`."""

    def __init__(
        self, opening: Opening, *, token: str = "", port: int = 0, limits: ServiceLimits | None = None,
        http: Any = "auto",
    ) -> None:  # fmt: skip
        self._opening, self._token, self._limits, self._http = opening, token, limits, http
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._started = threading.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(60)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join()

    async def _serve(self) -> None:
        async with self._opening() as backend:
            app: Any = service(backend, token=self._token, limits=self._limits)
            self._server = uvicorn.Server(
                uvicorn.Config(app, log_config=None, lifespan="off", http=self._http)
            )
            self._started.set()
            await self._server.serve([self._socket])
