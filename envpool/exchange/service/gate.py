"""The door of a service: who may speak to it, and how much at once.

Invariant: nothing of a request is read before its token is right and its size is allowed; what is at work at once,
what may wait for that and what is in memory are bounded, and the rest is told to come again. A request is at work only
once it is here whole, so that one that comes slowly keeps nobody out.
"""

import asyncio
import hashlib
import hmac
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from envpool.exchange.service.messages import packed

RETRY_SECONDS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimits:
    """How much is taken; all ours."""

    body_bytes: int = 32 << 20
    at_once: int = 64
    """Requests at work."""
    waiting: int = 1024
    """Requests that are on their way, or wait for their turn."""
    held_bytes: int = 2 << 30
    """Of all of them together."""
    body_seconds: float = 60.0
    """Until a request is here whole."""


class Gate:
    """ASGI middleware. Without a token everybody may speak: the caller sees to it that only this machine can."""

    def __init__(self, app: ASGIApp, token: str, limits: ServiceLimits) -> None:
        self._app = app
        self._token = _digest(token) if token else b""
        self._limits = limits
        self._room = asyncio.Semaphore(limits.at_once)
        self._inside = 0
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        if refusal := self._refusal(scope["method"], headers):
            await refusal(scope, receive, send)
            return
        body = bytearray()
        self._inside += 1
        try:
            if refusal := await self._read(receive, body):
                await refusal(scope, receive, send)
                return
            async with self._room:
                await self._app(scope, _read_again(bytes(body), receive), send)
        finally:
            self._inside -= 1
            self._held -= len(body)

    async def _read(self, receive: Receive, body: bytearray) -> Response | None:
        """Puts the body together; a refusal where it does not come to its end."""
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return _closing(408, "the request broke off")
                    part = message.get("body", b"")
                    body += part
                    self._held += len(part)
                    if len(body) > self._limits.body_bytes:
                        return _closing(413, f"a request has at most {self._limits.body_bytes} bytes")
                    if self._held > self._limits.held_bytes:
                        return _closing(503, "too much waits already; come again")
                    more = message.get("more_body", False)
        except TimeoutError:
            return _closing(408, f"a request is here whole within {self._limits.body_seconds:g} s")
        return None

    def _refusal(self, method: str, headers: dict[str, str]) -> Response | None:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if self._token and not (
            kind.lower() == "bearer" and hmac.compare_digest(_digest(given), self._token)
        ):
            return refused(401, "a token is asked for: Authorization: Bearer TOKEN")
        # Without it the size is known only once all is read; beside the other it says nothing.
        if "transfer-encoding" in headers:
            return refused(411, "a request says how long it is: Content-Length, and no Transfer-Encoding")
        if method == "POST" and not (length := headers.get("content-length", "")).isdecimal():
            return refused(411, "a request says how long it is: Content-Length")
        if method == "POST" and int(length) > self._limits.body_bytes:
            return refused(413, f"a request has at most {self._limits.body_bytes} bytes, not {length}")
        if self._inside >= self._limits.at_once + self._limits.waiting:
            return refused(503, "too many requests wait already; come again")
        return None


def refused(status: int, reason: str, **facts: Any) -> Response:
    """A refusal with its reason, as the client reads it."""
    headers = {"Retry-After": str(RETRY_SECONDS)} if status == 503 else {}
    headers |= {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    content = packed({"detail": reason, **facts})
    return Response(content, status_code=status, media_type="application/json", headers=headers)


def _closing(status: int, reason: str) -> Response:
    """A refusal of what was not read to its end, after which the connection is of no use."""
    refusal = refused(status, reason)
    refusal.headers["Connection"] = "close"
    return refusal


def _read_again(body: bytes, receive: Receive) -> Receive:
    """The whole body in one message, and then what the server says."""
    whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return whole.pop() if whole else await receive()

    return next_message


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
