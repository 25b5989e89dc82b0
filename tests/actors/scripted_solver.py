"""A solver that refuses questions with a certain word and answers all others alike, in place of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actors.roster import Post
from training.policy.errors import GenerationRefused
from training.trajectory import Sample

TOO_LONG = "upper_case"


class ScriptedSolver:
    def __init__(self, config: dict[str, Any], name: str) -> None:
        self.name = name
        self.asked = 0

    async def ready(self) -> str:
        return self.name

    async def generate(
        self, prompts: Sequence[str], n: int, max_tokens: int, temperature: float, plain: bool = False
    ) -> list[list[dict[str, Any]]]:
        if any(TOO_LONG in prompt for prompt in prompts):
            raise GenerationRefused("the prompt does not fit")
        self.asked += len(prompts)
        sample = Sample("<answer>1</answer>", [1], [2], [-0.5], 0, 0, True)
        return [[sample.to_dict()] * n for _ in prompts]

    async def count(self) -> int:
        return self.asked


def solver(index: int) -> Post:
    return Post(f"solver-{index}", "tests.actors.scripted_solver:ScriptedSolver")
