"""The gain between two evaluations of the same questions, with its 95 % interval.

Invariant: entry k of both lists answers question k, so the interval is of the paired difference and the spread
between questions does not widen it. It says nothing of other questions than those sampled from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

TWO_SIDED = NormalDist().inv_cdf(0.975)


class UnpairedScores(ValueError):
    """Two score lists that do not belong to the same questions."""


@dataclass(frozen=True, slots=True)
class PairedGain:
    """Mean scores before and after, their difference, and the 95 % interval of that difference."""

    count: int
    before: float
    after: float
    gain: float
    low: float
    high: float

    @property
    def certain(self) -> bool:
        """Whether the whole interval lies above zero."""
        return self.low > 0


def paired_gain(before: Sequence[float], after: Sequence[float]) -> PairedGain:
    """Gain of scores in [0, 1], verdicts or booleans. Raises UnpairedScores.

    The interval is Agresti and Min's adjusted Wald interval for paired proportions (half a question added to each of
    the four cells), which keeps its coverage where few answers change; verdicts between 0 and 1 enter the same sums.
    """
    if len(before) != len(after) or not before:
        raise UnpairedScores(f"{len(before)} scores before, {len(after)} after")
    differences = [float(b) - float(a) for a, b in zip(before, after, strict=True)]
    count = len(differences) + 2
    centre = math.fsum(differences) / count
    variance = (math.fsum(d * d for d in differences) + 1) / count - centre * centre
    half = TWO_SIDED * math.sqrt(variance / count)
    return PairedGain(
        count=len(differences),
        before=fmean(map(float, before)),
        after=fmean(map(float, after)),
        gain=fmean(differences),
        low=centre - half,
        high=centre + half,
    )
