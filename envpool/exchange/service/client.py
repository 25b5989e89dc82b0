"""The other end of a service: questions in, answers out, for trainers.

    with ServiceClient("http://127.0.0.1:8300", client="trainer-0") as service:
        [question] = service.sample(1)
        [outcome] = service.score(question.recipe, ["<answer>3</answer>"])

Invariant: a request that got no answer is sent again, under the same name, until `patience` seconds are over; the
service counts it once. So a service that is restarted, or a connection that breaks, costs time and nothing else. What
could not be judged is `Failed` or an error, never a score.
"""

import asyncio
import itertools
import json
import os
import random
import secrets
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import httpx

from envpool.contract import Outcome, Recipe
from envpool.exchange.service.backend import Question, ServiceError
from envpool.exchange.service.messages import (
    PREFIX,
    TOKEN_VARIABLE,
    outcome_from_dict,
    packed,
    question_from_dict,
)

PATIENCE_SECONDS = 300.0
TIMEOUT_SECONDS = 120.0
PAUSES = (0.1, 8.0)
"""Seconds before the second try, and at most; doubled in between (ours)."""
AGAIN = (408, 429, 500, 502, 503, 504)
"""Statuses that speak of the moment, not of the request."""
RecipeLike = Recipe | Mapping[str, Any]
"""A recipe, or what its `to_dict` gives."""


class ServiceUnavailable(ServiceError):
    """The service gave no answer for as long as the client has patience."""


class ServiceRefused(ServiceError):
    """The service does not take this request, whenever it is sent: `status` is HTTP's."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{reason} ({status})")
        self.status, self.reason = status, reason

    def __reduce__(self) -> tuple[type[Self], tuple[int, str]]:
        """Of what it was made, so that a worker process can send it."""
        return type(self), (self.status, self.reason)


class ServiceClient:
    """Safe from several threads and event loops, and across forks. The token is ENVOLVE_TOKEN's where none is given."""

    _waiting: httpx.Client | None
    _looping: dict[asyncio.AbstractEventLoop, httpx.AsyncClient]
    """One for each event loop: connections belong to the loop they were made in."""

    def __init__(
        self,
        url: str,
        client: str = "",
        token: str | None = None,
        *,
        patience: float = PATIENCE_SECONDS,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        """`client` is the name in the service's status; seconds for all tries together, and for one."""
        token = os.environ.get(TOKEN_VARIABLE, "") if token is None else token
        self.url, self.client = url.rstrip("/"), client or f"client-{secrets.token_hex(4)}"
        self._headers = {"Content-Type": "application/json"}
        self._headers |= {"Authorization": f"Bearer {token}"} if token else {}
        self._patience, self._timeout = patience, timeout
        self._without_connections()
        _clients.add(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def status(self) -> dict[str, Any]:
        """What is served, and who is served. Raises ServiceError."""
        return self._asked("GET", "/status", None)

    def sample(self, count: int = 1) -> list[Question]:
        """Fresh questions: `count`, or fewer, but one at least. Raises ServiceError."""
        return _questions(self._asked("POST", "/sample", self._sampling(count)))

    async def sample_async(self, count: int = 1) -> list[Question]:
        """As `sample`."""
        return _questions(await self._asked_async("POST", "/sample", self._sampling(count)))

    def questions(self, ahead: int = 1) -> Iterator[Question]:
        """Without end, `ahead` at a time. Raises ServiceError."""
        while True:
            yield from self.sample(ahead)

    def score(self, recipe: RecipeLike, responses: Sequence[str], request: str = "") -> list[Outcome]:
        """One outcome a response. Without a name each call is a request of its own. Raises ServiceError, TypeError."""
        scoring = self._scoring(recipe, responses, request)
        return _outcomes(self._asked("POST", "/score", scoring), len(responses))

    async def score_async(
        self, recipe: RecipeLike, responses: Sequence[str], request: str = ""
    ) -> list[Outcome]:
        """As `score`."""
        scoring = self._scoring(recipe, responses, request)
        return _outcomes(await self._asked_async("POST", "/score", scoring), len(responses))

    def close(self) -> None:
        """Gives connections back; those of event loops go with their loops. Idempotent."""
        with self._making:
            if self._waiting is not None:
                self._waiting.close()
                self._waiting = None

    def _without_connections(self) -> None:
        """As at the start: none of a process that this one was forked from, nor a lock that a thread of it holds."""
        self._making = threading.Lock()
        self._waiting = None
        self._looping = {}

    def _sampling(self, count: int) -> dict[str, Any]:
        return {"client": self.client, "count": count}

    def _scoring(self, recipe: RecipeLike, responses: Sequence[str], request: str) -> dict[str, Any]:
        request = request or secrets.token_hex(16)
        if not isinstance(recipe, Recipe):  # kept as JSON meanwhile
            recipe = Recipe.from_dict(recipe)
        return {
            "client": self.client,
            "request": request,
            "recipe": recipe.to_dict(),
            "responses": list(responses),
        }

    def _asked(self, method: str, path: str, message: Mapping[str, Any] | None) -> dict[str, Any]:
        content = None if message is None else packed(message)
        tries = _Tries(self.url, self._patience)
        for pause in tries:
            time.sleep(pause)
            with tries:
                return _read(self._blocking().request(method, PREFIX + path, content=content))
        raise tries.unavailable()

    async def _asked_async(self, method: str, path: str, message: Mapping[str, Any] | None) -> dict[str, Any]:
        content = None if message is None else packed(message)
        tries = _Tries(self.url, self._patience)
        for pause in tries:
            await asyncio.sleep(pause)
            with tries:
                return _read(await self._of_loop().request(method, PREFIX + path, content=content))
        raise tries.unavailable()

    def _blocking(self) -> httpx.Client:
        with self._making:
            if self._waiting is None:
                self._waiting = httpx.Client(base_url=self.url, headers=self._headers, timeout=self._timeout)
            return self._waiting

    def _of_loop(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        with self._making:
            for ended in [each for each in self._looping if each.is_closed()]:
                del self._looping[ended]  # with its connections, which nobody can close any more
            if loop not in self._looping:
                self._looping[loop] = httpx.AsyncClient(
                    base_url=self.url,
                    headers=self._headers,
                    timeout=self._timeout,
                    limits=httpx.Limits(max_connections=64),
                )
            return self._looping[loop]


# A connection that two processes write to gives one of them the other's verdict.
_clients: weakref.WeakSet[ServiceClient] = weakref.WeakSet()


def _forget_connections() -> None:
    for client in list(_clients):
        client._without_connections()


os.register_at_fork(after_in_child=_forget_connections)


class _Again(Exception):
    """The answer speaks of the moment: another try may have another."""


class _Tries:
    """Pauses before each try, until patience is over; a context that swallows what another try may mend."""

    def __init__(self, url: str, patience: float) -> None:
        self._url, self._patience = url, patience
        self._until = time.monotonic() + patience
        self._last = "nothing was tried"

    def __iter__(self) -> Iterator[float]:
        yield 0.0
        first, longest = PAUSES
        for turn in itertools.count():
            # Spread, so that clients whose service was restarted do not come all at once.
            pause = min(longest, first * 2**turn) * random.uniform(0.5, 1.0)
            if time.monotonic() + pause > self._until:
                return
            yield pause

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, httpx.UnsupportedProtocol):
            raise ServiceError(f"{self._url} is no URL of a service: {error}") from error
        if isinstance(error, httpx.TransportError | _Again):
            self._last = f"{type(error).__name__}: {error}" if kind is not _Again else str(error)
            return True
        return False

    def unavailable(self) -> ServiceUnavailable:
        return ServiceUnavailable(
            f"{self._url} gave no answer within {self._patience:g} s, at last: {self._last}"
        )


def _read(reply: httpx.Response) -> dict[str, Any]:
    try:
        content = json.loads(reply.content)
    except ValueError:
        content = None
    if reply.is_success and isinstance(content, dict):
        return content
    reason = content.get("detail") if isinstance(content, dict) else None
    said = str(reason or reply.text[:200] or reply.reason_phrase)
    if reply.status_code in AGAIN:
        raise _Again(f"{said} ({reply.status_code})")
    if reply.is_success:
        raise ServiceRefused(reply.status_code, f"this is no Envolve service: {said}")
    raise ServiceRefused(reply.status_code, said)


def _questions(content: dict[str, Any]) -> list[Question]:
    try:
        return [question_from_dict(each) for each in content["questions"]]
    except (KeyError, TypeError) as error:
        raise ServiceRefused(200, f"not the questions of an Envolve service: {error!r}") from error


def _outcomes(content: dict[str, Any], count: int) -> list[Outcome]:
    try:
        outcomes = [outcome_from_dict(each) for each in content["outcomes"]]
    except (KeyError, TypeError, ValueError) as error:
        raise ServiceRefused(200, f"not the outcomes of an Envolve service: {error!r}") from error
    if len(outcomes) != count:
        raise ServiceRefused(200, f"{len(outcomes)} outcomes for {count} responses")
    return outcomes
