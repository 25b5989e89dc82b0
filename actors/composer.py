"""The composer actor: fuses active members into composites by frontier search, a few at a time.

Invariant: it builds only on active programs that are not held out, follows the pool, and asks for room
before it searches. The search and the operators are `envpool.composition`'s.
"""

from __future__ import annotations

from actors import roster
from actors.base import Actor
from envpool.composition.chains import SearchSettings
from envpool.composition.composer import Composer, ComposerSettings
from envpool.members import Member, Program, Status

APART = 1 << 40
"""Between the seeds of two composers: more than a journal has entries."""


class ComposerActor(Actor):
    """Proposes composites while training runs."""

    background_nice = 10

    async def start(self) -> None:
        compose = self.config.compose
        self._proposed = self._admitted = 0
        self._composer = Composer(
            self.sandboxes,
            self._bricks(),
            ComposerSettings(
                operators=compose.operators,
                min_size=min(compose.size),
                max_size=max(compose.size),
                level=compose.level,
                search=SearchSettings(
                    depth=max(compose.size), expansions=compose.expansions, max_literal=compose.literal_limit
                ),
            ),
            # Another seed at each start, so that a restarted composer does not search the same chains again.
            seed=self.config.run.seed
            + self.pool_reader.last_sequence()
            + roster.number_of(self.name) * APART,
            known=lambda id: self.pool_reader.status(id) is not None,
        )
        if self.config.composes:
            self.background("compose", self._compose_once)

    def gauges(self) -> dict[str, float]:
        return {"proposed": self._proposed, "admitted": self._admitted}

    async def _compose_once(self) -> None:
        if not self.working:
            await self.idle("run")
            return
        await self.idle("", self.config.composer.interval_seconds)
        if await self.peers.validator.room() == 0:
            await self.idle("validator")
            return
        self.waiting_for = "sandbox"
        self._composer.use(self._bricks())
        for member in await self._composer.propose(self.config.composer.batch, self.config.compose.size):
            self._proposed += 1
            self._admitted += await self.peers.validator.judge_composite(member.to_dict())

    def _bricks(self) -> list[Member]:
        found = (self.pool_reader.get(id) for id in self.pool_reader.ids(status=Status.ACTIVE))
        return [
            member
            for member in found
            if member and isinstance(member.material, Program) and not member.held_out
        ]
