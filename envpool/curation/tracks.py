"""How a member, or a family of members, has been doing lately.

Invariant: sums always agree with the portions they were made from. What follows from the numbers is
decided by the curator, not here.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Recent:
    """The newest answers in the portions they came in, at least `limit` once there were so many."""

    limit: int
    portions: deque[tuple[int, int]] = field(default_factory=deque)
    attempts: int = 0
    successes: int = 0

    def add(self, attempts: int, successes: int) -> None:
        """Takes one portion in and forgets the oldest that are not needed to fill the window."""
        if attempts == 0:
            return
        self.portions.append((attempts, successes))
        self.attempts += attempts
        self.successes += successes
        while self.attempts - self.portions[0][0] >= self.limit:
            oldest = self.portions.popleft()
            self.attempts -= oldest[0]
            self.successes -= oldest[1]

    def replace(self, portions: Iterable[Iterable[int]]) -> None:
        """Forgets everything and takes these portions in."""
        self.portions.clear()
        self.attempts = self.successes = 0
        for attempts, successes in portions:
            self.add(attempts, successes)

    @property
    def rate(self) -> float:
        """Share of successes; 0 without answers."""
        return self.successes / self.attempts if self.attempts else 0.0


@dataclass(slots=True)
class Family:
    """Success of a family, older answers weighing less."""

    limit: int
    attempts: float = 0.0
    successes: float = 0.0

    def add(self, attempts: int, successes: int) -> None:
        """Takes answers in; beyond the limit the sums are halved."""
        self.attempts += attempts
        self.successes += successes
        while self.attempts > self.limit:
            self.attempts /= 2
            self.successes /= 2

    @property
    def rate(self) -> float:
        """Posterior mean of success from a flat prior: 0.5 for a family that nobody has tried."""
        return (self.successes + 1) / (self.attempts + 2)


@dataclass(slots=True)
class Track:
    """One member in the curator's hands."""

    member: str
    group: str
    family: str
    level: int
    recent: Recent
    capped: bool = False
    """The next level was refused, so this one is the last."""
    pending: bool = False
    """A promotion was asked for and is not answered yet."""
    rests: int = 0
    wakes_at: int | None = None
    """Number of draws at which it wakes; None while it is awake."""


def variance(recent: Recent, family_rate: float, family_weight: float) -> float:
    """Expected variance of one success, times 4 (ours): E[4p(1-p)] under a Beta posterior, in (0, 1).

    The prior is the family's success, worth `family_weight` answers: a fresh family gives a new member 2/3, a
    family that nobody solves gives it next to nothing.
    """
    a = family_weight * family_rate + recent.successes
    b = family_weight * (1 - family_rate) + recent.attempts - recent.successes
    return 4 * a * b / ((a + b) * (a + b + 1))
