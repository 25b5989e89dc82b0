"""The audit of what an actor learnt from sandboxes, what follows for a member that is refuted, and the alarm.

Invariant: a refuted member is quarantined in one transaction with the evidence, with all that is composed of it and all
answers to them; from then on no buffer hands out a group of theirs, no curator draws them and no count of theirs is
kept, since each of those asks the pool. A finding is told until the pool has it. The alarm is not given by whoever
found it, who may die between the two, but from the pool's journal: at least once for each finding, whatever was killed
when. What counts as refuted is `envpool.sandbox.audit`'s.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from actors.base import Actor
from actors.pool import AUDIT_SECRET
from actors.supervisor import STOPPING
from envpool.sandbox.audit import Auditor, Observation, Refutation
from envpool.store.distrust import Distrusted, findings

logger = logging.getLogger(__name__)

ROUND_SECONDS = 1.0
"""Before what was chosen meanwhile is recomputed, in batches."""
FINISH_SECONDS = 60.0
"""For what still waits when its actor leaves."""
STOP_SECONDS = 10.0
"""The same, where the whole run is stopped; ours."""
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
        self._at_work: asyncio.Task[None] | None = None
        self._leaving = False

    def observe(self, observed: Observation) -> None:
        """As `Auditor.observe`."""
        self._auditor.observe(observed)

    async def once(self) -> None:
        """Rounds until nothing waits; what one leaves undone when its actor leaves is for `finish`.

        Raises what a round raises.
        """
        await asyncio.sleep(ROUND_SECONDS)
        while not self._leaving:
            at_work = self._round()
            while not (at_work.done() or self._leaving):
                await asyncio.wait({at_work}, timeout=ROUND_SECONDS)
            if at_work.done():
                at_work.result()
            if not self._auditor.waiting:
                return

    def leave(self) -> None:
        """Its actor leaves: it need not wait for a round that is at work, only for `finish`."""
        self._leaving = True

    async def finish(self, seconds: float = FINISH_SECONDS) -> None:
        """Recomputes what its actor has still learnt before it ends, as far as the time reaches. Raises nothing.

        What is found is told at once; a round that the time cuts off goes on for as long as this process lives.
        """
        self._leaving = True
        try:
            async with asyncio.timeout(seconds):
                while self._auditor.waiting or self._untold:
                    if not await self._went_well() and not self._auditor.waiting:
                        break  # what the pool does not take now it would not take in a moment
        except TimeoutError:
            logger.warning("%d draws were not recomputed in %.0f s", self._auditor.waiting, seconds)

    async def end(self) -> None:
        """`finish`, in little time, for an actor that is stopped without a drain; nothing where that must not wait."""
        if not (self._actor.pool_reader.state(STOPPING) or {}).get("now"):
            await self.finish(STOP_SECONDS)

    async def _went_well(self) -> bool:
        """Whether a round raised nothing; what it raised is logged, and followed by a pause."""
        try:
            await asyncio.shield(self._round())
        except Exception:
            logger.exception("a round of the audit failed")
            await asyncio.sleep(ROUND_SECONDS)
            return False
        return True

    def _round(self) -> asyncio.Task[None]:
        """The round that is at work, or a new one: there is one at a time, and no caller's end cuts it off."""
        if self._at_work is None or self._at_work.done():
            self._at_work = asyncio.create_task(self._work())
        return self._at_work

    async def _work(self) -> None:
        """Tells what is untold and what a batch finds. Raises only then what kept a finding from being told."""
        errors = [error for found in list(self._untold) if (error := await self._tell(found))]
        async for found in self._auditor.work():
            self._untold.append(found)
            if error := await self._tell(found):
                errors.append(error)
        if errors:
            raise ExceptionGroup("findings that the pool did not take; they are told again", errors)

    def metrics(self) -> dict[str, float]:
        """As `Auditor.metrics`, and the findings that the pool does not have yet."""
        return {**self._auditor.metrics(), "audits_untold": float(len(self._untold))}

    async def _tell(self, found: Refutation) -> Exception | None:
        """Why the pool did not take it, which keeps no other finding back."""
        try:
            step = int((self._actor.pool_reader.state("progress") or {}).get("step", 0))
            await self._actor.peers.pool.distrust(found.member, found.reason, found.evidence(), step)
        except Exception as error:  # noqa: BLE001 - the next finding may be one that it takes
            error.add_note(f"a finding about {found.member}")
            return error
        self._untold.remove(found)
        return None


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
        """What the journal still holds when its actor stops. Where the pool is gone by then it is told again later.

        Raises nothing: its actor has more to end.
        """
        try:
            async with asyncio.timeout(LAST_SECONDS):
                while await self._read_on():
                    pass
        except Exception:
            logger.exception("alarms that are left are given by the next life of this actor")

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
