"""Whom a draw from a snapshot asks. Nothing is built or run here.

Invariant: it depends on members, levels and the draw's own generator, not on the machine or on any order.
"""

import random
from collections.abc import Iterator
from hashlib import sha256

from envpool.exchange.snapshot import Snapshot
from envpool.families import kin

ITEM_SEED_BITS = 62


def item_seed(seed: int, item: int) -> int:
    """The seed of one item of a series: a hash, so that items of neighbouring seeds never overlap."""
    return int.from_bytes(sha256(f"{seed}:{item}".encode()).digest(), "big") >> (256 - ITEM_SEED_BITS)


class Families:
    """Members that may be asked, by family: their own, else maker and types, or operator and size."""

    def __init__(self, snapshot: Snapshot) -> None:
        families: dict[tuple[bool, str], list[str]] = {}
        for id in sorted(snapshot.levels):
            member = snapshot.members[id]
            families.setdefault((member.held_out, member.family or kin(member)), []).append(id)
        self._trained, self._apart = (
            [families[key] for key in sorted(families) if key[0] == apart] for apart in (False, True)
        )

    def picks(self, rng: random.Random, apart: bool | None) -> Iterator[str]:
        """Members without end, each of a family drawn alike and alike within it; none where there are none.

        `apart`: only those that are set apart, or only the others; None: both.
        """
        families = [*(() if apart else self._trained), *(() if apart is False else self._apart)]
        while families:
            yield rng.choice(rng.choice(families))
