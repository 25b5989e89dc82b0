"""What a solver and a generator are rewarded with.

Invariant: a reward is a finite number in [0, 1], and shaping is never mixed into the verdict. A failed scoring is no
reward at all: asking for one is an error. The verdict itself is computed elsewhere, by a frozen program.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from envpool.contract import Failed, Outcome, Scored

SOUGHT_SUCCESS = 0.3
"""Success rate of the most useful environment (EvoEnv)."""
QUALITY_WIDTH = 0.2
"""Standard deviation of the quality bell (ours)."""


class NoReward(ValueError):
    """A reward was asked for where there is none."""


@dataclass(frozen=True, slots=True)
class SolverReward:
    """The frozen program's verdict in [0, 1], and a shaping term that is trained on but logged apart."""

    verdict: float
    shaping: float = 0.0


@dataclass(frozen=True, slots=True)
class GeneratorReward:
    """What a proposal earns, part by part, each its share of one times what was measured; shaping is logged apart."""

    validation: float = 0.0
    quality: float = 0.0
    novelty: float = 0.0
    shaping: float = 0.0

    @property
    def verdict(self) -> float:
        """In [0, 1]."""
        return min(1.0, self.validation + self.quality + self.novelty)

    def parts(self) -> dict[str, float]:
        """Every part, and under `total` what is trained on."""
        return {**asdict(self), "total": self.verdict + self.shaping}


@dataclass(frozen=True, slots=True)
class GeneratorWeights:
    """Parts of the generator's reward, at most one together (ours).

    A part that an ablation sets to 0 is dropped: what the others are worth stays, so that one thing changes.
    """

    validation: float = 0.2
    quality: float = 0.5
    novelty: float = 0.3
    centre: float = SOUGHT_SUCCESS
    """Of the quality bell (EvoEnv)."""
    width: float = QUALITY_WIDTH
    """Of the quality bell (ours)."""

    def __post_init__(self) -> None:
        parts = (self.validation, self.quality, self.novelty)
        if min(parts) < 0 or sum(parts) > 1.0 + 1e-9:
            raise ValueError(f"weights must be parts of one: {parts}")
        if not 0 <= self.centre <= 1 or self.width <= 0:
            raise ValueError(f"no bell of success rates around {self.centre}, {self.width} wide")


GENERATOR_WEIGHTS = GeneratorWeights()


def solver_reward(outcome: Outcome, format_bonus: float = 0.0) -> SolverReward:
    """The verdict (0 where no answer could be read) and the bonus for a readable answer. Raises NoReward."""
    if isinstance(outcome, Failed):
        raise NoReward(f"scoring failed: {outcome.reason}")
    if isinstance(outcome, Scored):
        return SolverReward(float(outcome.score), format_bonus)
    return SolverReward(0.0)


def quality(success_rate: float, centre: float = SOUGHT_SUCCESS, width: float = QUALITY_WIDTH) -> float:
    """Q(a) = exp(-(a - 0.3)^2 / (2 s^2)) in [0, 1] (EvoEnv; s = 0.2 is ours)."""
    return math.exp(-(((success_rate - centre) / width) ** 2) / 2)


def generator_reward(
    valid: bool,
    success_rate: float | None,
    novelty: float,
    shaping: float = 0.0,
    weights: GeneratorWeights = GENERATOR_WEIGHTS,
) -> GeneratorReward:
    """Reward of a proposal; what is not valid earns nothing, what was not calibrated no quality (EvoEnv).

    Raises NoReward for a measure outside [0, 1].
    """
    if not 0.0 <= novelty <= 1.0 or (success_rate is not None and not 0.0 <= success_rate <= 1.0):
        raise NoReward(f"outside [0, 1]: novelty {novelty}, success rate {success_rate}")
    if not valid:
        return GeneratorReward(shaping=shaping)
    measured = quality(success_rate, weights.centre, weights.width) if success_rate is not None else 0.0
    return GeneratorReward(weights.validation, weights.quality * measured, weights.novelty * novelty, shaping)
