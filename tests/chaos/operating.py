"""An operator in the middle of it: scales, pauses, resumes and saves, by calls that may meet a supervisor just killed.

Invariant: what the supervisor acknowledged holds from then on; of a call that brought no answer either may be so.
"""

from __future__ import annotations

import random
from typing import Any

from ray.exceptions import RayError

from tests.simulated.runs import SimulatedRun


class Operator:
    """One order at a time, from a seeded stream."""

    def __init__(self, run: SimulatedRun, seed: int, sandboxes: int) -> None:
        self.run = run
        self.orders = self.acknowledged = 0
        self.possible: dict[str, set[int]] = {}
        """By kind, the counts that may be wanted now."""
        self._rng = random.Random(f"{seed}:operator")
        self._ranges = {"sandbox": (2, sandboxes + 1), "solver": (1, 2), "composer": (1, 2)}

    def order(self) -> str:
        """Something an operator may order; in words."""
        match self._rng.choice(["scale", "scale", "pause", "checkpoint"]):
            case "scale":
                return self._scale()
            case "pause":
                self._ask("pause")
                return f"pause, {self._ask('resume')}"
            case _:
                return f"checkpoint {self._ask('checkpoint')}"

    def finish(self) -> None:
        """The run goes on, whatever was ordered before."""
        self.run.until(lambda: self._ask("overview") and self._resumed(), 120.0)

    def _resumed(self) -> bool:
        self._ask("resume")
        return not (self._ask("overview") or {"wanted": {"paused": True}})["wanted"]["paused"]

    def _scale(self) -> str:
        kind = self._rng.choice(sorted(self._ranges))
        count = self._rng.randint(*self._ranges[kind])
        if self._ask("scale", {kind: count}) is None:
            self.possible.setdefault(kind, set()).add(count)
            return f"{kind}={count} without an answer"
        self.possible[kind] = {count}
        return f"{kind}={count}"

    def _ask(self, method: str, *arguments: Any) -> Any:
        self.orders += 1
        try:
            answer = self.run.ask("supervisor", method, *arguments, seconds=5.0)
        except RayError:
            answer = None  # for example a learner that is away for longer than a save may take
        self.acknowledged += answer is not None
        return answer
