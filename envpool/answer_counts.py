"""How often a policy answered a member, and how well: the unit in which results reach store and curation.

`attempts` are answers that were judged, so successes <= parsed <= attempts; `failures` are answers without a verdict by
no member's fault (the infrastructure failed, or what the answer had run was killed), which were dropped and are counted
beside the attempts, never among them. Intervals take answers as independent: those of one group answer one question,
and know less together than they count.
"""

import math
from dataclasses import dataclass
from typing import Self

Z_95 = 1.96
"""Standard deviations on both sides that hold 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a success rate lies with 95 % confidence."""

    low: float
    high: float

    def __contains__(self, rate: object) -> bool:
        return isinstance(rate, float) and self.low <= rate <= self.high


def wilson(rate: float, answers: float) -> Interval:
    """Wilson's score interval of a rate seen in so many independent answers, whole or not; (0, 1) without any."""
    if answers <= 0:
        return Interval(0.0, 1.0)
    shrink = 1 + Z_95**2 / answers
    centre = (rate + Z_95**2 / (2 * answers)) / shrink
    half = Z_95 / shrink * math.sqrt(rate * (1 - rate) / answers + Z_95**2 / (4 * answers**2))
    # The rate lies inside, also where rounding would have it a hair outside of 0 or 1.
    return Interval(max(0.0, min(rate, centre - half)), min(1.0, max(rate, centre + half)))


@dataclass(frozen=True, slots=True)
class Counts:
    """Sums over answers."""

    attempts: int = 0
    successes: int = 0
    parsed: int = 0
    failures: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.parsed <= self.attempts or self.failures < 0:
            raise ValueError(f"counts need 0 <= successes <= parsed <= attempts and failures >= 0: {self}")

    def __add__(self, other: Self) -> "Counts":
        return Counts(
            self.attempts + other.attempts,
            self.successes + other.successes,
            self.parsed + other.parsed,
            self.failures + other.failures,
        )

    @property
    def rate(self) -> float | None:
        """Share of attempts with the full verdict; None without attempts."""
        return self.successes / self.attempts if self.attempts else None

    @property
    def interval(self) -> Interval:
        """Of the rate, with all attempts weighing alike."""
        return wilson(self.rate or 0.0, self.attempts)


@dataclass(frozen=True, slots=True)
class AnswerCount:
    """Counts of one policy on one member at one level."""

    member: str
    policy: str
    level: int
    attempts: int = 0
    successes: int = 0
    parsed: int = 0
    failures: int = 0

    @property
    def counts(self) -> Counts:
        """The sums alone. Raises ValueError if they contradict each other."""
        return Counts(self.attempts, self.successes, self.parsed, self.failures)
