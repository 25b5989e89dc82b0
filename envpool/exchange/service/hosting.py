"""A service on a socket, for as long as nobody ends this process.

Invariant: at SIGINT and SIGTERM nothing new is taken, what is under way is finished for as long as there is time, the
rest is told to come again, and the caller hears whether there was any. A second signal does not wait.
"""

import asyncio
import ipaddress
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from envpool.exchange.service.gate import refused

CLOSING_SECONDS = 20
"""For requests under way when the service is ended (ours)."""


class Unprotected(ValueError):
    """Other machines could ask, and no token is asked for."""


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing: uvicorn would raise them anew in the middle of what its caller still has to put away."""
        yield


class _UnderWay:
    """The app, and what becomes of its requests when the time is over."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open = self._cut = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._open += 1
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            # The server's time is over; a client that hangs up cancels nothing.
            self._cut += 1
            await refused(503, "the service is being ended; come again")(scope, receive, send)
        finally:
            self._open -= 1

    def all_answered(self) -> bool:
        return not (self._open or self._cut)


def listening(host: str, port: int, token: str) -> socket.socket:
    """The open socket; port 0 takes a free one. Raises Unprotected, OSError."""
    if not token and not _is_this_machine(host):
        raise Unprotected(f"{host} lets other machines ask")
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


def url_of(listener: socket.socket) -> str:
    """Where clients find it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(app: ASGIApp, listener: socket.socket, started: Callable[[], None]) -> bool:
    """Serves until a signal; whether all that was under way then is answered.

    `started` is called once, when the app is about to answer.
    """
    requests = _UnderWay(app)
    server = _Server(
        uvicorn.Config(
            requests,
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=CLOSING_SECONDS,
        )
    )

    def end() -> None:
        server.force_exit = server.should_exit
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, end)
    try:
        started()
        await server.serve([listener])
    finally:
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(each)
    return requests.all_answered()


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
