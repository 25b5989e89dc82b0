"""A service on a socket, for as long as nobody ends this process.

Invariant: SIGINT and SIGTERM take nothing new, finish what is under way, and return; a second one does not wait.
"""

import asyncio
import ipaddress
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

CLOSING_SECONDS = 20
"""For requests under way when the service is ended (ours)."""


class Unprotected(ValueError):
    """Other machines could ask, and no token is asked for."""


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing: uvicorn would raise them anew in the middle of what its caller still has to put away."""
        yield


def listening(host: str, port: int, token: str) -> socket.socket:
    """The open socket; port 0 takes a free one. Raises Unprotected, OSError."""
    if not token and not _is_this_machine(host):
        raise Unprotected(f"{host} lets other machines ask")
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


def url_of(listener: socket.socket) -> str:
    """Where clients find it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def serve(app: ASGIApp, listener: socket.socket, started: Callable[[], None]) -> None:
    """Serves until a signal. `started` is called once, when the app is about to answer."""
    server = _Server(
        uvicorn.Config(
            app,
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


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
