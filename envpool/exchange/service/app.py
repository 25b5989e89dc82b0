"""The service: a pool over HTTP, for trainers that bring their own everything else.

    app = service(backend, token="...")         # an ASGI app: uvicorn runs it, an actor hosts it, a test calls it

    GET  /v1/status                             what is served, and who is served
    POST /v1/sample  {client, count}            fresh questions
    POST /v1/score   {client, request, recipe, responses}       outcomes, once for each request

Invariant: a request to score that is sent again is judged once while its reply is at hand, and counted once while the
backend remembers its name, as a pool does with the last 262,144; a client that dies leaves nothing behind that another
would miss. Where the machine fails the status is 503, and a program that breaks gives no score: neither is a 0.
It keeps no pool and draws nothing: that is `backend`'s.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from envpool.contract import Outcome
from envpool.exchange.service.backend import Backend, NothingToAsk, UnknownQuestion
from envpool.exchange.service.gate import Gate, ServiceLimits, refused
from envpool.exchange.service.messages import (
    PREFIX,
    SampleRequest,
    ScoreRequest,
    outcome_to_dict,
    packed,
    question_to_dict,
)
from envpool.exchange.service.replies import OtherRequest, Replies
from envpool.sandbox import InfrastructureFault, SandboxUnavailable

logger = logging.getLogger(__name__)
KEPT_REPLIES = 8192
"""Requests whose replies are at hand when they are sent again (ours); older ones are judged anew."""
KEPT_CLIENTS = 256
REASON_CHARACTERS = 1000
"""Of what is said about a request out of its form."""


@dataclass(slots=True)
class Served:
    """What one client had."""

    sampled: int = 0
    scored: int = 0
    failed: int = 0
    """Responses without a verdict."""
    seen: float = 0.0
    """Seconds since the epoch, of its last request."""


class Clients:
    """The clients that came last, by name."""

    def __init__(self) -> None:
        self._served: OrderedDict[str, Served] = OrderedDict()

    def __getitem__(self, name: str) -> Served:
        """The client's row, which is now the newest."""
        row = self._served.setdefault(name, Served())
        self._served.move_to_end(name)
        row.seen = time.time()
        if len(self._served) > KEPT_CLIENTS:
            self._served.popitem(last=False)
        return row

    def to_dict(self) -> dict[str, Any]:
        return {name: asdict(row) for name, row in self._served.items()}


def service(
    backend: Backend, *, token: str = "", limits: ServiceLimits | None = None, clients: Clients | None = None
) -> FastAPI:
    """The app over a backend, which the caller starts and closes. Without a token anyone who reaches it may ask.

    `clients` is where the caller wants to see who is served.
    """
    app = FastAPI(title="Envolve", description="An evolving pool of verifiable environments.", version="1")
    app.add_middleware(Gate, token=token, limits=limits or ServiceLimits())
    served, replies = clients or Clients(), Replies[list[Outcome]](KEPT_REPLIES)

    @app.get(f"{PREFIX}/status")
    async def status() -> Response:
        """What is served, and who is served."""
        return _answer({"clients": served.to_dict(), **await backend.status()})

    @app.post(f"{PREFIX}/sample")
    async def sample(asked: SampleRequest) -> Response:
        """Fresh questions. A reply that is lost costs seeds, which are without end."""
        questions = await backend.sample(asked.client, asked.count)
        served[asked.client].sampled += len(questions)
        return _answer({"questions": [question_to_dict(question) for question in questions]})

    @app.post(f"{PREFIX}/score")
    async def score(asked: ScoreRequest) -> Response:
        """Outcomes, one a response."""

        async def judged() -> list[Outcome]:
            outcomes = await backend.score(
                asked.client, asked.request, asked.recipe.recipe(), asked.responses
            )
            row = served[asked.client]
            verdicts = [outcome_to_dict(outcome) for outcome in outcomes]
            row.failed += sum("failed" in each for each in verdicts)
            row.scored += sum("failed" not in each for each in verdicts)
            return outcomes

        name = f"{asked.client}\n{asked.request}"
        outcomes = await replies.of(name, (asked.recipe, hash(tuple(asked.responses))), judged)
        return _answer({"outcomes": [outcome_to_dict(outcome) for outcome in outcomes]})

    app.add_exception_handler(RequestValidationError, _out_of_form)
    _told(app, 422, UnknownQuestion)
    _told(app, 409, OtherRequest)
    _told(app, 503, NothingToAsk, InfrastructureFault, SandboxUnavailable)
    return app


def _told(app: FastAPI, status: int, *errors: type[Exception]) -> None:
    """Errors of these types reach the client as this status, with their own words."""

    async def tell(_: Request, error: Exception) -> Response:
        logger.warning("%d: %s", status, error)
        return refused(status, str(error))

    told: Callable[[Request, Exception], Awaitable[Response]] = tell
    for each in errors:
        app.add_exception_handler(each, told)


async def _out_of_form(_: Request, error: Exception) -> Response:
    """What is wrong where, without what was sent: that may be large, or no UTF-8."""
    assert isinstance(error, RequestValidationError)
    faults = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
    return refused(422, "; ".join(faults)[:REASON_CHARACTERS])


def _answer(content: dict[str, Any]) -> Response:
    return Response(packed(content), media_type="application/json")
