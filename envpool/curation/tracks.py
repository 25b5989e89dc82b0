"""How a member, or a family of members, has been doing lately.

Invariant: no answer weighs more than one that came after it. Where guesses are right in a share of all cases,
a family's success and the learning signal are what comes above it. What follows from the numbers is `judgement`'s.
"""

from dataclasses import dataclass, field

from envpool.answer_counts import Interval, wilson


@dataclass(slots=True)
class Recent:
    """Success at one level, older answers weighing less: half after each further `half_life` answers.

    Sums of the answers' weights, of the successes' and of the squared weights, which say how many answers of equal
    weight would know as much.
    """

    half_life: float
    weight: float = 0.0
    successes: float = 0.0
    squares: float = 0.0

    def add(self, attempts: int, successes: int) -> None:
        """Takes in answers that came together."""
        fade = 0.5 ** (attempts / self.half_life)
        self.weight = self.weight * fade + attempts
        self.successes = self.successes * fade + successes
        self.squares = self.squares * fade**2 + attempts

    def clear(self) -> None:
        """Forgets everything."""
        self.weight = self.successes = self.squares = 0.0

    @property
    def answers(self) -> float:
        """How many answers of equal weight would know as much (Kish); below 2.9 half-lives for single answers."""
        return self.weight**2 / self.squares if self.squares else 0.0

    @property
    def rate(self) -> float:
        """Weighted share of successes; 0 without answers."""
        return min(1.0, self.successes / self.weight) if self.weight else 0.0

    @property
    def interval(self) -> Interval:
        """Where success lies now, with 95 % confidence."""
        return wilson(self.rate, self.answers)

    @property
    def sums(self) -> list[float]:
        """What `Recent(half_life, *sums)` is made of again."""
        return [self.weight, self.successes, self.squares]


@dataclass(slots=True)
class Family:
    """Success of a family, older answers weighing less."""

    limit: int
    attempts: float = 0.0
    successes: float = 0.0

    def add(self, attempts: float, successes: float) -> None:
        """Takes answers in, read `above_guessing`; beyond the limit the sums are halved."""
        self.attempts += attempts
        self.successes += successes
        while self.attempts > self.limit:
            self.attempts /= 2
            self.successes /= 2

    def remove(self, attempts: float, successes: float) -> None:
        """Takes answers out again that turned out to be worth nothing, as far as they are still in the sums."""
        self.attempts = max(0.0, self.attempts - attempts)
        self.successes = min(self.attempts, self.successes - successes)

    @property
    def rate(self) -> float:
        """Posterior mean of success from a flat prior: 0.5 for a family that nobody has tried."""
        return (max(0.0, self.successes) + 1) / (self.attempts + 2)


@dataclass(slots=True)
class Track:
    """One member in the curator's hands."""

    member: str
    group: str
    family: str
    level: int
    half_life: float
    retires: bool = True
    """Whether it may leave the pool for good."""
    size: int = 1
    """Programs whose work it asks for."""
    guess: float = 0.0
    """Its guess rate."""
    levels: dict[int, Recent] = field(default_factory=dict)
    """Success by level, those that it left behind among them."""
    capped: bool = False
    """The next level was refused, so this one is the last."""
    pending: bool = False
    """A promotion was asked for and is not answered yet."""
    rests: int = 0
    """At this level."""
    wakes_at: int | None = None
    """Number of draws at which it wakes; None while it is awake."""
    born: float = 0.0
    """Epochs of the curator when it was taken in."""
    drawn_at: int = 0
    """Number of draws when it was last drawn, taken in or woken."""

    @property
    def recent(self) -> Recent:
        """Success at the present level."""
        return self.at(self.level)

    def at(self, level: int) -> Recent:
        """Success at a level."""
        return self.levels.setdefault(level, Recent(self.half_life))


def above_guessing(answers: float, successes: float, guess: float) -> tuple[float, float]:
    """The answers that no guess decided and the successes among them, for a guess rate below 1 (ours).

    Successes are below 0 where chance gave fewer than its share, so that sums of them lean to neither side.
    """
    return answers * (1 - guess), successes - answers * guess


def learning_signal(
    recent: Recent, trust: float, family_rate: float, family_weight: float, guess: float = 0.0
) -> float:
    """Expected variance of one success, times 4 (ours): E[4q(1-q)] under a Beta posterior, in (0, 1).

    q = max(0, (p - g) / (1 - g)), success above guessing: who guesses has the most variance where g is 0.5, and there
    is nothing to learn from it.

    The prior is the family's success, worth `family_weight` answers: a fresh family gives a new member 2/3, a
    family that nobody solves gives it next to nothing. The member's own answers count `trust` times, a fraction
    of 1 that falls while it is not asked: then little is known of it, and it is due to be asked again.
    """
    answers = trust * recent.answers
    own, solved = above_guessing(answers, answers * recent.rate, guess)
    a = family_weight * family_rate + max(0.0, solved)
    b = family_weight * (1 - family_rate) + own - max(0.0, solved)
    return 4 * a * b / ((a + b) * (a + b + 1))
