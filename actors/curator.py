"""The curator actor: which questions a policy is asked next, and what their answers do to levels and statuses.

Invariant: it never changes the pool itself; decisions go to the pool actor, and a level rises only after L2 to L5
held there. It follows the pool by its journal, so a member is drawn from moments after it was admitted. Whether a
member rests or retires is the run's own policy's matter: the curator of an attached one rests it for itself alone, and
moves only levels of its own. It leaves after the solvers that still call it.
"""

from __future__ import annotations

import asyncio
import traceback
from dataclasses import replace
from typing import Any

from actors.base import Actor
from envpool.answer_counts import AnswerCount
from envpool.contract import Recipe
from envpool.curation import CurationSettings, Curator, Decision, Promote, Rest, Retire, Wake
from envpool.curation.standings import lowest_level, standing_in
from envpool.members import Status
from envpool.store import PoolReader, StoreError

FOLLOW_SECONDS = 0.5
SAVE_SECONDS = 10.0
JOURNAL_PAGE = 2000


class CuratorActor(Actor):
    """Serves recipes to solvers and takes answer counts back."""

    async def start(self) -> None:
        self._policy = self.config.policy.name
        self._own_run = not self.config.policy.attached
        settings = CurationSettings(**self.config.curation.model_dump(), mode=self.config.compose.mode)
        self._curator = Curator(settings, policy=self._policy, seed=self.config.run.seed)
        self._seen = await asyncio.to_thread(self._take_all, self.pool_reader)
        if saved := await self.peers.pool.state(self.config.own("curator")):
            self._curator.load_state_dict(saved)
        await self._save()  # or the next life, if this one is short, would give the same seeds again
        self.background("follow", self._follow_once)
        self.background("save", self._save_once)

    async def choose(self, count: int) -> list[dict[str, Any]]:
        """Fresh recipes for training. A lost answer costs seeds, which are without end."""
        await self.ready()
        self._follow()
        recipes = self._curator.choose(count)
        return [recipe.to_dict() for recipe in recipes]

    async def record(self, counts: list[AnswerCount]) -> None:
        """Take answers in, and carry out what they decide."""
        await self.ready()
        await self.peers.pool.record(counts)
        await self.learn(counts)

    async def learn(self, counts: list[AnswerCount]) -> None:
        """Carry out what answers decide that the pool has already."""
        await self.ready()
        self._follow()  # what was quarantined since decides nothing
        for decision in [decision for count in counts for decision in self._curator.record(count)]:
            try:
                await self._carry_out(decision)
            except StoreError:  # it was quarantined in between; the others' decisions stand
                self._note("decision", traceback.format_exc())

    async def quarantine(self, member: str, reason: str) -> None:
        """A frozen program failed in use: it is asked no more. Idempotent."""
        await self.ready()
        await self.peers.pool.transition(member, Status.QUARANTINED.value, reason, self._step())
        self._follow()

    async def refused(self, member: str, level: int, reason: str) -> None:
        """The policy cannot be asked at this level (its prompt is too long): stay below, or ask no more. Idempotent."""
        await self.ready()
        found = self.pool_reader.get(member)
        if level <= (lowest_level(found) if found else 0):
            if self._own_run:
                await self.quarantine(member, f"cannot be asked at level {level}: {reason}")
            elif standing := standing_in(self.pool_reader, member, self._policy):
                self._curator.take(replace(standing, status=Status.QUARANTINED))  # to this policy alone
            return
        await self.peers.pool.set_level(member, self._policy, level - 1, f"capped, cannot be asked: {reason}")
        self._follow()
        self._curator.cap(member)

    async def drain(self) -> None:
        await super().drain()
        await self.until_gone(self.config.own("solver"), "server")
        if hasattr(self, "_curator"):
            await self._save()

    def gauges(self) -> dict[str, float]:
        return self._curator.metrics() if hasattr(self, "_curator") else {}

    async def _carry_out(self, decision: Decision) -> None:
        match decision:
            case Promote():
                await self._promote(decision)
            case _ if not self._own_run:
                return
            case Rest(member=member, reason=reason):
                await self.peers.pool.transition(member, Status.RESTING.value, reason, self._step())
            case Retire(member=member, reason=reason):
                await self.peers.pool.transition(member, Status.RETIRED.value, reason, self._step())
            case Wake(member=member, reason=reason):
                await self.peers.pool.transition(member, Status.ACTIVE.value, reason, self._step())

    async def _promote(self, promotion: Promote) -> None:
        member, level = promotion.member, promotion.level
        try:
            refusal = await self.peers.validator.level_refused(member, level)
        except Exception:
            self._curator.postpone(member)  # nothing was found out; the next success asks again
            raise
        if refusal:
            self._curator.cap(member)
            reason = f"capped, level {level} does not hold: {refusal}"
            await self.peers.pool.set_level(member, self._policy, level - 1, reason)
        else:
            self._curator.promoted(member, level)
            await self.peers.pool.set_level(member, self._policy, level, promotion.reason)

    def _step(self) -> int:
        return int((self.pool_reader.state("progress") or {}).get("step", 0))

    def _take_all(self, pool: PoolReader) -> int:
        """Every member as it stands, and the journal entry from which to follow: a week's journal is long to read."""
        with pool.snapshot():
            for id in pool.ids():
                if standing := standing_in(pool, id, self._policy):
                    self._curator.take(standing)
            return pool.last_sequence()

    def _follow(self) -> None:
        while entries := self.pool_reader.journal(after=self._seen, limit=JOURNAL_PAGE):
            self._curator.follow(entries, self.pool_reader)
            self._seen = entries[-1].seq

    async def _follow_once(self) -> None:
        await self.idle("", FOLLOW_SECONDS)
        self._follow()

    async def _save_once(self) -> None:
        await self.idle("", SAVE_SECONDS)
        await self._save()

    async def _save(self) -> None:
        await self.peers.pool.put_state(self.config.own("curator"), self._curator.state_dict())


def recipes_of(plain: list[dict[str, Any]]) -> list[Recipe]:
    """What `choose` sent, as recipes."""
    return [Recipe.from_dict(item) for item in plain]
