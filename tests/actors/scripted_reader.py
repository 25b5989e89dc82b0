"""A policy's solver that reviews as it is told and answers every question alike, in place of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actors.roster import Post
from training.policy.errors import EndpointUnavailable, GenerationRefused
from training.trajectory import Sample

ANSWER = "<answer>2</answer>"
REVIEWED = "VERDICT"


class ScriptedReader:
    """Finds a bug where the program speaks of one; a file `away` in the run's folder makes it fail."""

    def __init__(self, config: dict[str, Any], name: str) -> None:
        self.name = name
        self._away = Path(config["run"]["folder"]) / config["run"]["name"] / "away"
        self.asked: list[tuple[str, int, bool]] = []

    async def ready(self) -> str:
        return self.name

    async def generate(
        self, prompts: Sequence[str], n: int, max_tokens: int, temperature: float, plain: bool = False
    ) -> list[list[dict[str, Any]]]:
        if self._away.exists():
            raise EndpointUnavailable("the server is away")
        if any("endless" in prompt for prompt in prompts):
            raise GenerationRefused("the prompt does not fit")
        return [self._samples(prompt, n, plain) for prompt in prompts]

    async def requests(self) -> list[tuple[str, int, bool]]:
        """What was asked, how often and whether plainly."""
        return self.asked

    def _samples(self, prompt: str, n: int, plain: bool) -> list[dict[str, Any]]:
        reviews = REVIEWED in prompt
        self.asked.append(("review" if reviews else "question", n, plain))
        first = f"Line 9 is odd.\n{REVIEWED}: {'likely bug' if 'off by one' in prompt else 'sound'}"
        texts = [first, *[f"{REVIEWED}: sound"] * (n - 1)] if reviews else [ANSWER] * n
        return [Sample(text, [1], [2], [-0.5], 0, 0, True).to_dict() for text in texts]


def reader(name: str = "solver-0") -> Post:
    return Post(name, "tests.actors.scripted_reader:ScriptedReader")
