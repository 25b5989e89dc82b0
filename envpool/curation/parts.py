"""Which members may be parts of a composite: anything admitted, whoever made it, for as long as it is in play.

Invariant: it is the pool's word of this moment, so a program is a brick from when it is active. One that rests stays
a brick: what is too easy by itself is what long chains are made of. What is retired or quarantined leaves, and what is
set apart was never one. Nothing is composed here.
"""

from envpool.curation.standings import PLAYING
from envpool.members import Composite, Member, Program, Status
from envpool.store.reading import PoolReads


def bricks_in(pool: PoolReads) -> list[Member]:
    """The programs that may be composed now; equality and feasibility, of any origin."""
    with pool.snapshot():
        found = (pool.get(identity) for status in PLAYING for identity in pool.ids(status))
        return [
            member
            for member in found
            if member and isinstance(member.material, Program) and not member.held_out
        ]


def quarantined_parts(pool: PoolReads, composite: Member) -> list[str]:
    """Parts for which a composite may not be admitted any more."""
    parts = composite.material.parts if isinstance(composite.material, Composite) else ()
    return [part for part in parts if pool.status(part) is Status.QUARANTINED]
