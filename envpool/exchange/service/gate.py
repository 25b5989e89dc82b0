"""The door of a service: who may speak to it, and how much at once.

Invariant: nothing of a request is read before its token is right and its size is allowed; what is let in at once and
what may wait for that are bounded, and the rest is told to come again.
"""

import asyncio
import hashlib
import hmac
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from envpool.exchange.service.messages import packed

RETRY_SECONDS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimits:
    """How much is taken; all ours."""

    body_bytes: int = 32 << 20
    at_once: int = 64
    """Requests at work."""
    waiting: int = 1024
    """Requests that wait for their turn."""


class Gate:
    """ASGI middleware. Without a token everybody may speak: the caller sees to it that only this machine can."""

    def __init__(self, app: ASGIApp, token: str, limits: ServiceLimits) -> None:
        self._app = app
        self._token = _digest(token) if token else b""
        self._limits = limits
        self._room = asyncio.Semaphore(limits.at_once)
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        if refusal := self._refusal(scope["method"], headers):
            await refusal(scope, receive, send)
            return
        self._inside += 1
        try:
            async with self._room:
                await self._app(scope, receive, send)
        finally:
            self._inside -= 1

    def _refusal(self, method: str, headers: dict[str, str]) -> Response | None:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if self._token and not (
            kind.lower() == "bearer" and hmac.compare_digest(_digest(given), self._token)
        ):
            return refused(401, "a token is asked for: Authorization: Bearer TOKEN")
        # Without it the size is known only once all is read.
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


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
