"""The audit of what an actor learnt from sandboxes, and what follows for a member that is refuted.

Invariant: a refuted member is quarantined in one transaction with the evidence, with all that is composed of it and all
answers to them; from then on no buffer hands out a group of theirs, no curator draws them and no count of theirs is
kept, since each of those asks the pool. A finding is told until the pool has it. What counts as refuted is
`envpool.sandbox.audit`'s.
"""

from __future__ import annotations

import asyncio

from actors.base import Actor
from actors.pool import AUDIT_SECRET
from envpool.sandbox.audit import Auditor, Observation, Refutation

ROUND_SECONDS = 1.0
"""Between two rounds; what was chosen meanwhile is recomputed in one batch."""


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
        self._untold += await self._auditor.work()
        while self._untold:
            await self._tell(self._untold[0])
            self._untold.pop(0)

    def metrics(self) -> dict[str, float]:
        """As `Auditor.metrics`."""
        return self._auditor.metrics()

    async def _tell(self, found: Refutation) -> None:
        actor, evidence = self._actor, found.evidence()
        step = int((actor.pool_reader.state("progress") or {}).get("step", 0))
        lost = await actor.peers.pool.distrust(found.member, found.reason, evidence, step)
        if not lost:
            return  # somebody else told it first
        composites = f", and {len(lost) - 1} composed of it" if len(lost) > 1 else ""
        await actor.peers.metrics.alarm("audit", f"{found.member} is quarantined{composites}: {found.reason}")
        await actor.peers.metrics.event("audit", {"member": found.member, "distrusted": lost, **evidence})
