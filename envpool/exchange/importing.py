"""Bringing offers into a pool: each through the gates, and written before the next one is looked at.

Invariants: an offer ends as one record, admitted or rejected with gate and reason, or, where it could not be read or
the machine failed, as none. What the pool has seen is not judged again, so that an import that was cut short goes on
where it stopped. Copies are looked for among all members, those set apart included. What an offer says of itself is
kept in its evidence.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

from envpool.admission.form import bare
from envpool.admission.tryout import Attempt, Tryout
from envpool.exchange.offers import Offer
from envpool.members import Member, Origin, Status
from envpool.sandbox.results import InfrastructureFault
from envpool.store.reading import PoolReads
from envpool.store.writing import PoolWriter


class Ended(StrEnum):
    """What became of an offer."""

    ADMITTED = "admitted"
    REJECTED = "rejected"
    THERE = "there"
    """The pool had it."""
    UNDECIDED = "undecided"
    """It could not be read, or the machine failed, which says nothing about it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of an import's report."""

    name: str
    ended: Ended
    id: str
    gate: str = ""
    reason: str = ""
    held_out: bool = False
    seconds: float = 0.0
    before: bool = False
    """Whether the pool had seen it, so that nothing was judged."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Door(Protocol):
    """A pool that takes offers in."""

    def seen(self, offer: Offer) -> Row | None:
        """What the pool knows of an offer; None where it has not seen it."""
        ...

    async def judge(self, offer: Offer) -> Row:
        """The verdict, once it is written. Raises InfrastructureFault."""
        ...


async def bring_in(
    door: Door, offers: Sequence[Offer], jobs: int = 1, again: bool = False
) -> AsyncIterator[Row]:
    """A row for each offer, in their order, `jobs` of them under way; `again` judges what had fallen once more.

    Offers of one source are looked at one after the other, so that the second finds what became of the first. Whoever
    stops listening leaves what was not begun undone.
    """
    free = asyncio.Semaphore(jobs)
    alone: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def row(offer: Offer) -> Row:
        if offer.unreadable:
            return Row(offer.name, Ended.UNDECIDED, "", "", offer.unreadable, offer.held_out)
        async with alone[bare(offer.source).id], free:
            known = door.seen(offer)
            if known is not None and not (again and known.ended is Ended.REJECTED):
                return known
            return await _judged(door, offer)

    tasks = [asyncio.create_task(row(offer)) for offer in offers]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _judged(door: Door, offer: Offer) -> Row:
    started = time.monotonic()
    try:
        row = await door.judge(offer)
    except InfrastructureFault as fault:
        row = Row(
            offer.name, Ended.UNDECIDED, bare(offer.source).id, "", f"no verdict: {fault}", offer.held_out
        )
    return replace(row, seconds=round(time.monotonic() - started, 3))


def seen(pool: PoolReads, offer: Offer) -> Row | None:
    """What a pool knows of an offer."""
    id = bare(offer.source).id
    status = pool.status_row(id)
    if status is None:
        return None
    if status.status is Status.REJECTED:
        fallen = pool.rejection(id)
        gate, reason = (fallen.gate, fallen.reason) if fallen else ("", "")
        return Row(offer.name, Ended.REJECTED, id, gate, reason, before=True)
    if offer.held_out and not status.held_out:
        reason = "in the pool, where it may be trained on: too late to set it apart"
        return Row(offer.name, Ended.REJECTED, id, "contamination", reason, before=True)
    return Row(offer.name, Ended.THERE, id, "", f"in the pool, {status.status}", status.held_out, before=True)


class Standing:
    """A pool that no run holds just now, and gates over sandboxes of this process."""

    def __init__(
        self, pool: PoolWriter, tryout: Tryout, origin: Origin, packages: Collection[str] = ()
    ) -> None:
        self._packages = packages
        self._pool = pool
        self._tryout = tryout
        self._origin = origin
        self._step = int((pool.state("progress") or {}).get("step", 0))

    def seen(self, offer: Offer) -> Row | None:
        """As `Door.seen`."""
        return seen(self._pool, offer)

    async def judge(self, offer: Offer) -> Row:
        """As `Door.judge`; without a package that it needs there is no verdict."""
        if lacking := set(offer.packages).difference(self._packages):
            raise InfrastructureFault(f"it needs {', '.join(sorted(lacking))}, which is not installed")
        verdict = await self._tryout.judge(Attempt(offer.name, offer.source, True, offer.held_out))
        evidence = {**verdict.evidence, **offer.facts}
        if verdict.member is None:
            facts = self._origin, verdict.gate, verdict.reason, evidence, offer.source, self._step
            self._pool.reject(verdict.id, *facts)
            return Row(offer.name, Ended.REJECTED, verdict.id, verdict.gate, verdict.reason, offer.held_out)
        member = replace(verdict.member, evidence=evidence)
        self._pool.admit(member, reason="imported", step=self._step)
        return Row(offer.name, Ended.ADMITTED, verdict.id, "", verdict.reason, offer.held_out)


def members_of(pool: PoolReads) -> list[Member]:
    """All that a pool ever admitted, among which copies are looked for."""
    return [member for member in map(pool.get, pool.ids()) if member is not None]
