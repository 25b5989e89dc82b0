"""Families of members: which one a member belongs to, how many each has, and parents spread over them.

Invariant: the family of a program that was embedded is the one that `novelty.clusters` assigned and the pool's state
keeps; every other member has one by what it is made of, so that every member has a family at any time. Nothing is
embedded or clustered here.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from envpool.members import Composite, Member, Origin, Status
from envpool.store.reading import PoolReads

PARENTS = (Status.ACTIVE, Status.RETIRED)
"""Retired environments still serve as examples (EvoEnv)."""
NO_EXAMPLES = (Origin.COMPOSER, Origin.IMPORTED)
"""Whose members are none: a policy writes programs, and no wrappers of other people's."""


def state_key(identity: str) -> str:
    """Where the pool's state keeps the family of a program."""
    return f"family/{identity}"


def kin(member: Member) -> str:
    """The family of a member that was not embedded: operator and size, or maker and types, or its imported task."""
    if isinstance(member.material, Composite):
        return f"{member.material.operator}:{member.material.size}"
    if member.origin is Origin.IMPORTED:  # all alike by their types, and nothing alike
        return f"{member.origin}:{member.family}"
    return f"{member.origin}:{member.signature}"


def family_of(pool: PoolReads, identity: str) -> str:
    """The family of a member: the id of the program that founded it, or `kin`; empty for an unknown id."""
    if family := pool.state(state_key(identity)):
        return str(family)
    member = pool.get(identity)
    return "" if member is None else kin(member)


def family_counts(pool: PoolReads, status: Status | None = None) -> Counter[str]:
    """Members by family, of one status or of all that were ever admitted."""
    with pool.snapshot():
        return Counter(family_of(pool, identity) for identity in pool.ids(status))


def choose_parents(pool: PoolReads, rng: random.Random, count: int, seed_floor: float = 0.2) -> list[Member]:
    """Distinct programs to show as examples, each a seed with at least the floor's probability (EvoEnv).

    Of active and retired ones, none held out or imported; small families before large ones (ours). Fewer where there
    are fewer.
    """
    with pool.snapshot():
        rows = {
            identity: row
            for status in PARENTS
            for identity in pool.ids(status)
            if (row := pool.status_row(identity)) and not row.held_out and row.origin not in NO_EXAMPLES
        }
        families = {identity: family_of(pool, identity) for identity in rows}
        seeds = [identity for identity, row in rows.items() if row.origin is Origin.SEED]
        chosen: list[str] = []
        for _ in range(min(count, len(rows))):
            places = seeds if rng.random() < seed_floor else list(rows)
            left = [each for each in places if each not in chosen] or [
                each for each in rows if each not in chosen
            ]
            chosen.append(spread(left, families, {families[each] for each in chosen}, rng))
        return [member for member in map(pool.get, chosen) if member is not None]


def spread(
    candidates: Sequence[str], families: Mapping[str, str], taken: set[str], rng: random.Random
) -> str:
    """One of the candidates: its family by 1 / (1 + members), one that is not taken yet if possible."""
    by_family: dict[str, list[str]] = {}
    for identity in candidates:
        by_family.setdefault(families[identity], []).append(identity)
    sizes = Counter(families.values())
    names = [name for name in by_family if name not in taken] or list(by_family)
    (name,) = rng.choices(names, [1 / (1 + sizes[name]) for name in names])
    return rng.choice(by_family[name])
