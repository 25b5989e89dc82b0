"""What a solver and a generator are rewarded with.

Invariant: a reward is a finite number in [0, 1], and shaping is never mixed into the verdict. A failed scoring is no
reward at all: asking for one is an error. The verdict itself is computed elsewhere, by a frozen program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

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
class GeneratorWeights:
    """Shares of the generator's reward; they sum to one (ours)."""

    validation: float = 0.2
    quality: float = 0.5
    novelty: float = 0.3

    def __post_init__(self) -> None:
        parts = (self.validation, self.quality, self.novelty)
        if min(parts) < 0 or not math.isclose(sum(parts), 1.0):
            raise ValueError(f"weights must be shares of one: {parts}")


GENERATOR_WEIGHTS = GeneratorWeights()


def solver_reward(outcome: Outcome, format_bonus: float = 0.0) -> SolverReward:
    """The verdict (0 where no answer could be read) and the bonus for a readable answer. Raises NoReward."""
    if isinstance(outcome, Failed):
        raise NoReward(f"scoring failed: {outcome.reason}")
    if isinstance(outcome, Scored):
        return SolverReward(float(outcome.score), format_bonus)
    return SolverReward(0.0)


def quality(success_rate: float) -> float:
    """Q(a) = exp(-(a - 0.3)^2 / (2 s^2)) in (0, 1] (EvoEnv; s = 0.2 is ours)."""
    return math.exp(-((success_rate - SOUGHT_SUCCESS) ** 2) / (2 * QUALITY_WIDTH**2))


def generator_reward(
    valid: bool, success_rate: float | None, novelty: float, weights: GeneratorWeights = GENERATOR_WEIGHTS
) -> float:
    """Reward in [0, 1] of a proposal; what is not valid earns nothing, what was not calibrated no quality (EvoEnv)."""
    if not 0.0 <= novelty <= 1.0 or (success_rate is not None and not 0.0 <= success_rate <= 1.0):
        raise NoReward(f"outside [0, 1]: novelty {novelty}, success rate {success_rate}")
    if not valid:
        return 0.0
    measured = quality(success_rate) if success_rate is not None else 0.0
    return weights.validation + weights.quality * measured + weights.novelty * novelty
