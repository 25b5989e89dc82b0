"""A solver without a model that knows the answers to programs it is told of, and gives as many as it is told to.

It draws what calibration draws and asks the programs themselves, in the sandbox, so that how often it succeeds at a
level is known to whoever computes a reward by hand. Asked to write an environment, it writes those it knows. To
anything else it answers that it does not know.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from actors.base import Actor
from envpool.admission.calibration import FIRST_SEED
from envpool.contract import Recipe
from envpool.generation.prompts import REQUEST
from envpool.members import Program
from envpool.sandbox import Call, Value
from envpool.signatures import from_wire, literal
from training.trajectory import Sample

FILE = "known.json"
ATTEMPTS = 12
"""Draws of a seed that are looked at; more than the split ever passes over in a test."""


@dataclass(frozen=True)
class Known:
    """A program, and how many questions of each level are answered rightly, of those asked together."""

    source: str
    right: tuple[int, ...]
    """By level; where there is none, the solver fails."""


def tell(run_folder: Path, known: Sequence[Known]) -> None:
    """What the solver of that run will know; before it is made."""
    run_folder.mkdir(parents=True, exist_ok=True)
    (run_folder / FILE).write_text(json.dumps([asdict(each) for each in known]), encoding="utf-8")


class KnowingSolver(Actor):
    """The first `right[level]` of the prompts that come together are answered rightly."""

    async def start(self) -> None:
        rows = json.loads((self.config.run_folder / FILE).read_text(encoding="utf-8"))
        self._known = [Known(row["source"], tuple(row["right"])) for row in rows]

    async def generate(
        self, prompts: Sequence[str], n: int, max_tokens: int, temperature: float, plain: bool = False
    ) -> list[list[dict[str, Any]]]:
        """As a solver's."""
        await self.ready()
        if prompts[0].endswith(REQUEST):
            return [[_sample(each.source) for each in self._known[:n]] for _ in prompts]
        return [[_sample(text)] * n for text in await self._answers(list(prompts))]

    async def _answers(self, prompts: list[str]) -> list[str]:
        rule = _letters(prompts[0].partition("\n\nInput: ")[0])
        known = next((each for each in self._known if rule in _letters(each.source)), None)
        if known is None:
            return ["I do not know."] * len(prompts)
        for level, right in enumerate(known.right):
            drawn = await self._drawn(known.source, level, prompts)
            if drawn is not None:
                told = await self._solved(known.source, drawn[:right])
                return [f"<answer>{each}</answer>" for each in told] + ["I do not know."] * (len(prompts) - right)
        raise LookupError(f"no level of {rule[:60]} has these questions")

    async def _drawn(self, source: str, level: int, prompts: list[str]) -> list[dict[str, Any]] | None:
        """The draw behind each prompt, in order of the seeds; None where they are not of this level."""
        id = Program(source, "", "", "", "").id
        keys = [
            Recipe(id, FIRST_SEED + seed, level, attempt).key()
            for seed in range(len(prompts))
            for attempt in range(ATTEMPTS)
        ]
        results = await self.sandboxes.run(source, [Call("sample", (key, level)) for key in keys])
        draws = [result.value for result in results if isinstance(result, Value)]
        found = []
        for seed, prompt in enumerate(prompts):
            own = draws[seed * ATTEMPTS : (seed + 1) * ATTEMPTS]
            match = next((draw for draw in own if f"\n\nInput: {draw['shown']}\n\n" in prompt), None)
            if match is None:
                return None
            found.append(match)
        return found

    async def _solved(self, source: str, draws: list[dict[str, Any]]) -> list[str]:
        if not draws:
            return []
        if draws[0]["planted"] is not None:
            return [_written(draw["planted"]) for draw in draws]
        results = await self.sandboxes.run(source, [Call("solve", (draw["input"],)) for draw in draws])
        return [_written(result.value) for result in results if isinstance(result, Value)]


def _sample(text: str) -> dict[str, Any]:
    return Sample(text, [1, 2], [3], [-0.5], 0, 0, True).to_dict()


def _written(wire: Any) -> str:
    value = from_wire(wire)
    return value if isinstance(value, str) else literal(value)


def _letters(text: str) -> str:
    """What is left of a text that is written over several lines of source."""
    return "".join(char for char in text if char.isalnum())
