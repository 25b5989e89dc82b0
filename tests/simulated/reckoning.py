"""A solver without a model that does the sums of some imported tasks, rightly by chance; all else is as simulated.

Whether an answer is right is for the task's own scorer to say, in the sandbox: nothing here does.
"""

from __future__ import annotations

import json
import re
from math import gcd

from tests.simulated.engine import SimulatedEngine
from tests.simulated.solver import SimulatedSolver

SUCCESS = 0.5
"""Chance of a right answer."""
_INPUT = re.compile(r"\n\nInput: (.*)\n\nAnswer as ", re.DOTALL)


class ReckoningEngine(SimulatedEngine):
    """Knows two tasks of reasoning-gym, and the largest but one of a list."""

    def _text(self, prompt: str) -> str:
        answer = reckoned(prompt)
        if answer is None or self._rng.random() > SUCCESS:
            return super()._text(prompt)
        return f"<answer>{answer}</answer>"


class ReckoningSolver(SimulatedSolver):
    """Plays recipes with it."""

    engine = ReckoningEngine


def reckoned(prompt: str) -> int | None:
    """The answer to a question of a known task; None for any other."""
    asked = _INPUT.search(prompt)
    if asked is None:
        return None
    numbers = [int(text) for text in re.findall(r"\d+", asked[1])]
    if "about count bits." in prompt:
        return numbers[-1].bit_count()
    if "about gcd." in prompt:
        return gcd(*numbers)
    if prompt.startswith("The input is a list of different integers. Give the largest but one."):
        return int(sorted(json.loads(asked[1]))[-2])
    return None
