"""A policy engine without a model: it answers within milliseconds, questions it knows by their rule rightly by chance.

It has `VllmEngine`'s methods and honours its promises: versions stamp each sample, new weights are read from their file
before they count, a torn file is refused. Whether an answer is right is for the sandbox to say: nothing here does.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from envpool.admission.review_text import CLOSING
from envpool.generation import Grammar
from envpool.generation.prompts import REQUEST
from training.policy.errors import WeightUpdateFailed
from training.policy.settings import EngineSettings, GenerationRequest
from training.trajectory import Sample

SUCCESS = 0.3
"""Chance of a right answer to a question whose rule is known."""
UNREADABLE = 0.15
REVIEWS = ("VERDICT: sound", "VERDICT: likely bug", "I like it.")
SECONDS = (0.002, 0.02)
"""Shortest and longest time to an answer."""
_INPUT = re.compile(r"^(?P<rule>.*)\n\nInput: (?P<input>.*)\n\nAnswer as ", re.DOTALL)
KNOWN: dict[str, Callable[[Any], Any]] = {
    "Write the input in upper-case letters.": lambda text: text.upper(),
    "Give the last number of the input list.": lambda numbers: numbers[-1],
    "Give the first number of the input list.": lambda numbers: numbers[0],
    "Words are separated by white space. Count the words of the input.": lambda text: len(text.split()),
    "Words are separated by white space. Give the first word of the input.": lambda text: text.split()[0],
    "Give the first character of the input.": lambda text: text[0],
}
"""Rules of shipped bricks, and what they ask for."""


class SimulatedEngine:
    """Answers from a seeded distribution."""

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.version = 0
        self._rng = random.Random(f"{settings.seed}:{time.time_ns()}")
        self._answered = 0

    async def start(self, version: int = 0) -> None:
        """As `VllmEngine.start`."""
        self.version = version

    async def generate(self, requests: Sequence[GenerationRequest]) -> list[list[Sample]]:
        """As `VllmEngine.generate`."""
        return [await self._answer(request) for request in requests]

    async def update_weights(self, path: str, version: int) -> float:
        """As `VllmEngine.update_weights`. Raises WeightUpdateFailed for a torn file."""
        if version == self.version:
            return 0.0
        try:
            json.loads(Path(path).read_text(encoding="utf-8"))["updates"]
        except (OSError, ValueError, KeyError) as error:
            raise WeightUpdateFailed(f"{path} holds no weights: {error}") from error
        await asyncio.sleep(self._rng.uniform(*SECONDS))
        self.version = version
        return 0.0

    def metrics(self) -> dict[str, float]:
        """Counts since the start."""
        return {"version": float(self.version), "requests": float(self._answered)}

    async def check_health(self) -> None:
        """As `VllmEngine.check_health`: it always answers."""

    async def close(self) -> None:
        """As `VllmEngine.close`."""

    async def _answer(self, request: GenerationRequest) -> list[Sample]:
        low = self.version
        await asyncio.sleep(self._rng.uniform(*SECONDS))
        prompt = request.messages[-1]["content"]
        self._answered += request.n
        return [self._sample(self._text(prompt), low) for _ in range(request.n)]

    def _text(self, prompt: str) -> str:
        if prompt.endswith(REQUEST):
            return self._program()
        if prompt.endswith(CLOSING):
            return self._review()
        if self._rng.random() < UNREADABLE:
            return "I do not know."
        known = right_answer(prompt)
        if known is not None and self._rng.random() < SUCCESS:
            return f"<answer>{known}</answer>"
        return f"<answer>{self._rng.randint(0, 9)}</answer>"

    def _program(self) -> str:
        """A program of the grammar, as a policy would write one; sometimes it talks instead."""
        if self._rng.random() < UNREADABLE:
            return "An environment about words would be nice."
        proposal = Grammar(1 << 20, self._rng.randrange(1 << 30)).write(1)[0]
        return f"Here it is.\n\n```python\n{proposal.source}```\n"

    def _review(self) -> str:
        """Mostly in favour, now and then against, and now and then without a verdict."""
        return self._rng.choices(REVIEWS, (0.9, 0.05, 0.05))[0]

    def _sample(self, text: str, low: int) -> Sample:
        tokens = list(text.encode())[:24]
        return Sample(
            text=text, prompt_ids=[1, 2, 3], token_ids=tokens,
            logprobs=[-self._rng.random() for _ in tokens],
            version_low=min(low, self.version), version_high=max(low, self.version), finished=True,
        )  # fmt: skip


def right_answer(prompt: str) -> str | None:
    """The answer to a question of a known rule; None for any other."""
    found = _INPUT.match(prompt)
    if found is None or found["rule"] not in KNOWN:
        return None
    try:
        return str(KNOWN[found["rule"]](json.loads(found["input"])))
    except (ValueError, TypeError, AttributeError, IndexError):
        return None
