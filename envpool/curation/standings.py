"""What the curator needs to know of a member, and how it is read from a pool. No decision is taken here."""

from dataclasses import dataclass
from typing import Self

from envpool.answer_counts import AnswerCount, Counts
from envpool.families import kin
from envpool.members import ORDERED, Composite, Member, Origin, Status
from envpool.store.reading import PoolReads

NO_ANSWERS = Counts()
PLAYING = (Status.ACTIVE, Status.RESTING)
REPLACED = (Origin.GRAMMAR, Origin.POLICY, Origin.COMPOSER)


@dataclass(frozen=True, slots=True)
class Standing:
    """A member's place in the curriculum of one policy."""

    member: str
    group: str
    """seeds, composites or others: the classes of members that have shares of their own."""
    family: str
    """Members whose success says something about each other's."""
    held_out: bool = False
    status: Status = Status.ACTIVE
    level: int = 0
    counts: Counts = NO_ANSWERS
    """Answers at this level."""
    retires: bool = False
    """Whether it may leave for good: newer ones replace what is written while a run goes, and nothing the rest."""
    size: int = 1
    """Programs whose work it asks for (RACES, t)."""
    guess: float = 0.0
    """Share of the answers that guessing alone gets right, where an order is asked for."""

    @classmethod
    def of(
        cls, member: Member, status: Status = Status.ACTIVE, level: int = 0, counts: Counts | None = None
    ) -> Self:
        """Family: the member's own, else operator and size of a composite, origin and types of a program."""
        group, size = ("seeds" if member.origin is Origin.SEED else "others"), 1
        if isinstance(member.material, Composite):
            group, size = "composites", member.material.size
        family, retires = member.family or kin(member), member.origin in REPLACED
        counts, guess = counts or NO_ANSWERS, order_guess(member)
        return cls(member.id, group, family, member.held_out, status, level, counts, retires, size, guess)


def order_guess(member: Member) -> float:
    """The guess rate that a composite was admitted with; 0 where no order is asked for."""
    ordered = isinstance(member.material, Composite) and member.material.operator in ORDERED
    return float(member.evidence.get("guess_rate") or 0) if ordered else 0.0


def admission_level(member: Member) -> int:
    """The level that calibration admitted a member at; 0 where none was measured."""
    return int(member.evidence.get("level") or 0)


def lowest_level(member: Member) -> int:
    """Below it no policy is asked a member: of a composite nothing is known but where it was measured."""
    return admission_level(member) if isinstance(member.material, Composite) else 0


def admission_answers(member: Member, policy: str) -> list[AnswerCount]:
    """The policy's answers that calibration admitted a member on, by level upward; none where none were asked for."""
    asked = enumerate(member.evidence.get("answers") or ())
    return [AnswerCount(member.id, policy, level, *map(int, counts)) for level, counts in asked]


def standing_in(pool: PoolReads, identity: str, policy: str) -> Standing | None:
    """How a member stands in the pool now; None if it was never admitted."""
    with pool.snapshot():
        member, status = pool.get(identity), pool.status(identity)
        if member is None or status is None:
            return None
        level = max(pool.level(identity, policy), lowest_level(member))
        return Standing.of(member, status, level, pool.stats(identity, policy).get(level))
