"""What a writer is made from, its key, and where in the cache it lies. Light to import.

Invariant: the folder's name holds a digest of all that decides what is in it, so another base model, recipe, seed or
length of training is another folder, and a name that stands for a writer never finds one of an older recipe.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

RECIPE = 1
"""Raised whenever lessons or training change (ours)."""
FACTS = "warmstart.json"
"""Beside the weights: what the writer was made from and what was measured of it."""
SUFFIX = "-writer"
KEY_DIGITS = 8


@dataclass(frozen=True, slots=True)
class WarmStart:
    """How a base model becomes a writer. All values are ours: the papers start from models that write already."""

    base: str = "smollm2-135m"
    minutes: float = 20.0
    """Of training; with lessons and the measurement it is the half hour that it may take."""
    steps: int = 160
    """Optimiser steps, where the minutes do not end first."""
    seed: int = 0
    replies: int = 5
    """Programs a step, all to one request, which is computed once."""
    answers: int = 4
    """Questions of one program a step, so that it stays able to solve."""
    answer_weight: float = 6.0
    """Weight of a token of an answer against one of a program: an answer is some ten tokens, a program 200."""
    lr: float = 4e-4
    """The highest; it rises over `warmup` steps and falls to a tenth as time or steps run out."""
    warmup: int = 6

    def key(self, weights: str) -> str:
        """Of the writer that these make of base weights with this digest."""
        made_from = asdict(self) | {"base": weights, "recipe": RECIPE}
        return hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()[:KEY_DIGITS]

    def folder(self, models: Path, weights: str) -> Path:
        """Where it lies in the cache."""
        return models / f"{Path(self.base).name}{SUFFIX}-{self.key(weights)}"
