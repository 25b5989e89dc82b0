"""How often a policy answered a member, and how well: the unit in which results reach store and curation.

`attempts` are answers that were judged, so successes <= parsed <= attempts; `failures` are infrastructure
failures, which were dropped and are counted beside the attempts, never among them.
"""

from dataclasses import dataclass
from typing import Self


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
