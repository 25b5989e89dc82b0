"""What the curator needs to know of a member, and how it is read from a pool. No decision is taken here."""

from dataclasses import dataclass
from typing import Self

from envpool.answer_counts import Counts
from envpool.members import Composite, Member, Origin, Status
from envpool.store.reading import PoolReads

NO_ANSWERS = Counts()
PLAYING = (Status.ACTIVE, Status.RESTING)


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

    @classmethod
    def of(
        cls, member: Member, status: Status = Status.ACTIVE, level: int = 0, counts: Counts | None = None
    ) -> Self:
        """Family: the member's own, else operator and size of a composite, origin and types of a program."""
        material = member.material
        if isinstance(material, Composite):
            group, kin = "composites", f"{material.operator}:{material.size}"
        else:
            group = "seeds" if member.origin is Origin.SEED else "others"
            kin = f"{member.origin}:{member.signature}"
        return cls(
            member.id, group, member.family or kin, member.held_out, status, level, counts or NO_ANSWERS
        )


def standings(pool: PoolReads, policy: str) -> list[Standing]:
    """All members that can be drawn now or later, as one moment of the pool has them."""
    with pool.snapshot():
        levels, stats = pool.all_levels(policy), pool.all_stats(policy)
        playing = [(identity, status) for status in PLAYING for identity in pool.ids(status)]
        found = []
        for identity, status in playing:
            member = pool.get(identity)
            if member is not None:
                level = levels.get(identity, 0)
                found.append(Standing.of(member, status, level, stats.get(identity, {}).get(level)))
        return found
