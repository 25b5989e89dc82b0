"""A policy behind an OpenAI-compatible endpoint: chat requests over HTTP, no weights and no log-probabilities here.

Invariant: a request ends in exactly `n` samples or in one typed error, whatever dialect the server speaks: one that
takes no `n`, or gives fewer choices than were asked for, is asked again for the rest. The key is read from the
environment where the engine starts; it is neither logged nor part of a message. Retries and their back-off are the
client's own. It judges no response, and its samples are nothing to train on: they carry no tokens.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import openai

from training.policy.errors import EndpointUnavailable, GenerationRefused
from training.policy.gathering import all_or_first_error
from training.policy.settings import GenerationRequest
from training.trajectory import Sample

REFUSED = (400, 413, 422)
"""Statuses that speak of this request alone; the next one may be served."""
TOKEN_LIMITS = ("max_tokens", "max_completion_tokens")
"""What a request's token limit is called; most servers take the first, some only the second."""
SAID_CHARACTERS = 500

logging.getLogger("httpx2").setLevel(logging.WARNING)  # it reports every single request


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """One endpoint and how hard it may be asked."""

    url: str
    """base URL, with the version: https://host/v1"""
    model: str
    """as the server calls it"""
    key_env: str = ""
    """environment variable with the key; empty: the server asks for none"""
    concurrency: int = 16
    """requests under way at once"""
    timeout_seconds: float = 120.0
    """limit of one try"""
    retries: int = 5
    """further tries after a connection error, a time-out, 408, 409, 429 or 5xx, with the client's back-off"""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a server takes."""

    takes_n: bool = True
    """several samples from one request"""
    limit: str = TOKEN_LIMITS[0]


class EndpointEngine:
    """Asks one endpoint. Belongs to one event loop."""

    def __init__(self, settings: EndpointSettings) -> None:
        self.settings = settings
        self._client: openai.AsyncOpenAI | None = None
        self._key = ""
        self._room = asyncio.Semaphore(settings.concurrency)
        self._dialect = Dialect()
        self._counts: Counter[str] = Counter()
        self._running = 0
        self._busy_seconds, self._busy_since = 0.0, 0.0

    async def start(self) -> None:
        """Make the client; asks nothing of the server. Raises EndpointUnavailable where the key is missing."""
        name = self.settings.key_env
        self._key = os.environ.get(name, "") if name else ""
        if name and not self._key:
            raise EndpointUnavailable(
                f"{name} is not set where the endpoint's actor runs; set it for the whole cluster"
            )
        self._client = openai.AsyncOpenAI(
            api_key=self._key or "none",  # given, or the client takes OPENAI_API_KEY to whatever host this is
            base_url=self.settings.url,
            timeout=self.settings.timeout_seconds,
            max_retries=self.settings.retries,
        )

    async def generate(self, requests: Sequence[GenerationRequest]) -> list[list[Sample]]:
        """`n` samples a request, of version 0 and without tokens or log-probabilities.

        Raises GenerationRefused for a request that the server does not take, EndpointUnavailable when the server
        does not answer through all retries or takes none of ours. On an error the other requests are cancelled.
        """
        return await all_or_first_error([self._generate(request) for request in requests])

    def metrics(self) -> dict[str, float]:
        """Counts since the start; `tokens_per_second` is over the time in which a request was under way."""
        busy = self._busy_seconds + (time.monotonic() - self._busy_since if self._running else 0.0)
        generated = float(self._counts["generated_tokens"])
        counted = ("requests", "prompt_tokens", "generated_tokens", "failures", "refused", "samples")
        return {
            **{name: float(self._counts[name]) for name in counted},
            "running": float(self._running),
            "busy_seconds": busy,
            "tokens_per_second": generated / busy if busy else 0.0,
        }

    async def close(self) -> None:
        """Give connections back. Idempotent."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _generate(self, request: GenerationRequest) -> list[Sample]:
        if not request.messages:
            raise GenerationRefused("an endpoint takes messages; token ids mean nothing to it")
        samples: list[Sample] = []
        while len(samples) < request.n:
            wanted = request.n - len(samples)
            if self._dialect.takes_n or wanted == 1:
                samples += await self._asked(request, wanted)
            else:
                singles = await all_or_first_error([self._asked(request, 1) for _ in range(wanted)])
                samples += [sample for single in singles for sample in single]
        return samples

    async def _asked(self, request: GenerationRequest, n: int) -> list[Sample]:
        """At least one sample and at most `n`, from one request."""
        async with self._room:
            self._enter()
            try:
                return await self._tried(request, n)
            finally:
                self._leave()

    async def _tried(self, request: GenerationRequest, n: int) -> list[Sample]:
        """The server's dialect is what it does not refuse; what it refuses in all of them is the request itself."""
        refusals: list[str] = []
        for dialect in self._dialects(n, refusals):
            try:
                answer = await self._create(request, n if dialect.takes_n else 1, dialect)
            except openai.APIStatusError as error:
                if error.status_code not in REFUSED:
                    raise self._unavailable(
                        error
                    ) from None  # its context holds the request, and that the key
                refusals.append(self._said(error))
            except (openai.APIError, ValueError) as error:
                raise self._unavailable(error) from None
            else:
                self._dialect = dialect
                return self._samples(answer, n if dialect.takes_n else 1)
        self._counts["refused"] += 1
        raise GenerationRefused(f"the endpoint refused a request: {refusals[0]}")

    def _dialects(self, n: int, refusals: Sequence[str]) -> Iterator[Dialect]:
        """The one that worked last, then those that may explain the refusals so far."""
        known = self._dialect
        yield known
        if n > 1 and known.takes_n:
            yield replace(known, takes_n=False)
        if known.limit in refusals[0]:
            yield Dialect(takes_n=False, limit=next(name for name in TOKEN_LIMITS if name != known.limit))

    async def _create(self, request: GenerationRequest, n: int, dialect: Dialect) -> Any:
        if self._client is None:
            raise EndpointUnavailable("the endpoint's client is not started")
        conversation: Any = list(request.messages)
        parameters: dict[str, Any] = {dialect.limit: request.max_tokens, "temperature": request.temperature}
        if n > 1:
            parameters["n"] = n
        if request.seed is not None:
            parameters["seed"] = request.seed
        return await self._client.chat.completions.create(
            model=self.settings.model, messages=conversation, **parameters
        )

    def _samples(self, answer: Any, n: int) -> list[Sample]:
        choices = getattr(answer, "choices", None)
        if not choices or any(getattr(choice, "message", None) is None for choice in choices):
            self._counts["failures"] += 1
            raise EndpointUnavailable(f"{self.settings.url} answered with no choices: it is no chat endpoint")
        if len(choices) < n:
            self._dialect = replace(self._dialect, takes_n=False)
        usage = answer.usage
        self._counts["requests"] += 1
        self._counts["samples"] += len(choices[:n])
        self._counts["prompt_tokens"] += usage.prompt_tokens if usage else 0
        self._counts["generated_tokens"] += usage.completion_tokens if usage else 0
        return [_sample(choice) for choice in choices[:n]]

    def _unavailable(self, error: Exception) -> EndpointUnavailable:
        self._counts["failures"] += 1
        key = self.settings.key_env or "no key"
        hint = f" (sent with {key})" if isinstance(error, openai.AuthenticationError) else ""
        return EndpointUnavailable(f"{self.settings.url}{hint}: {self._said(error)}")

    def _said(self, error: Exception) -> str:
        """The server's words; some servers repeat the key in them."""
        text = f"{type(error).__name__}: {error}"
        return (text.replace(self._key, "***") if self._key else text)[:SAID_CHARACTERS]

    def _enter(self) -> None:
        if not self._running:
            self._busy_since = time.monotonic()
        self._running += 1

    def _leave(self) -> None:
        self._running -= 1
        if not self._running:
            self._busy_seconds += time.monotonic() - self._busy_since


def _sample(choice: Any) -> Sample:
    return Sample(
        text=choice.message.content or "", prompt_ids=[], token_ids=[], logprobs=[], version_low=0, version_high=0,
        finished=choice.finish_reason == "stop",
    )  # fmt: skip
