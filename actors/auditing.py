"""The audit of what an actor learnt from sandboxes, what follows for a member that is refuted, and the alarm.

Invariant: a refuted member is quarantined in one transaction with the evidence, with all that is composed of it and all
answers to them; from then on no buffer hands out a group of theirs, no curator draws them and no count of theirs is
kept, since each of those asks the pool. A finding is told until the pool has it. The alarm is not given by whoever
found it, who may die between the two, but from the pool's journal: at least once for each finding, whatever was killed
when. What counts as refuted is `envpool.sandbox.audit`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from actors.base import Actor
from actors.pool import AUDIT_SECRET
from envpool.sandbox.audit import Auditor, Observation, Refutation
from envpool.store.distrust import Distrusted, findings

ROUND_SECONDS = 1.0
"""Between two rounds; what was chosen meanwhile is recomputed in one batch."""
FINISH_SECONDS = 60.0
"""For what still waits when its actor leaves."""
LAST_SECONDS = 5.0
"""For the alarms that are left when the actor that gives them stops."""
ALARMED = "audit_alarmed"
"""State: the last journal entry up to which every finding has been an alarm."""
ENTRIES_AT_ONCE = 1000
ENTRIES_UNKEPT = 10_000
"""Journal entries that are read anew, at most, by an actor that starts again."""


class Auditing:
    """The auditor of one actor, which has to run `once` in the background."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        secret = bytes(actor.pool_reader.state(AUDIT_SECRET) or b"")
        self._auditor = Auditor(actor.sandboxes, secret, actor.config.sandbox.audit_share)
        self._untold: list[Refutation] = []

    def observe(self, observed: Observation) -> None:
        """As `Auditor.observe`."""
        self._auditor.observe(observed)

    async def once(self) -> None:
        """One round."""
        await asyncio.sleep(ROUND_SECONDS)
        await self._round()

    async def finish(self) -> None:
        """Recomputes what its actor has still learnt before it leaves, as far as that takes no more than a minute."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FINISH_SECONDS):
                while self._auditor.waiting or self._untold:
                    await self._round()

    async def _round(self) -> None:
        self._untold += await self._auditor.work()
        while self._untold:
            await self._tell(self._untold[0])
            self._untold.pop(0)

    def metrics(self) -> dict[str, float]:
        """As `Auditor.metrics`."""
        return self._auditor.metrics()

    async def _tell(self, found: Refutation) -> None:
        step = int((self._actor.pool_reader.state("progress") or {}).get("step", 0))
        await self._actor.peers.pool.distrust(found.member, found.reason, found.evidence(), step)


class Alarms:
    """Follows the pool's journal and gives the alarm for each finding; one actor runs `once` in the background."""

    def __init__(self, actor: Actor, give: Callable[[str, dict[str, Any]], Awaitable[None]]) -> None:
        """`give` takes the text for an operator, and the finding as plain data."""
        self._actor = actor
        self._give = give
        self._read: int | None = None
        self._kept = 0

    async def once(self) -> None:
        """The next entries, or a pause where there are none."""
        if not await self._read_on():
            await asyncio.sleep(ROUND_SECONDS)

    async def finish(self) -> None:
        """What the journal still holds when its actor stops. Where the pool is gone by then it is told again later."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                while await self._read_on():
                    pass

    async def _read_on(self) -> bool:
        """Whether there was anything to read."""
        pool = self._actor.pool_reader
        if self._read is None:
            self._read = self._kept = int(pool.state(ALARMED) or 0)
        if pool.last_sequence() <= self._read:
            return False
        found, upto = await asyncio.to_thread(findings, pool, self._read, ENTRIES_AT_ONCE)
        for each in found:
            await self._give(_text(each), _record(each))
        if found or upto - self._kept >= ENTRIES_UNKEPT:
            await self._actor.peers.pool.put_state(ALARMED, upto)
            self._kept = upto
        self._read = upto
        return True


def _text(found: Distrusted) -> str:
    composites = f", and {len(found.composites)} composed of it" if found.composites else ""
    return f"{found.member} is quarantined{composites}: {found.reason}"


def _record(found: Distrusted) -> dict[str, Any]:
    return {**found.evidence, "member": found.member, "distrusted": [found.member, *found.composites]}
