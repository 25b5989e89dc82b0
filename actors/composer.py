"""The composer actor: fuses members into composites by frontier search, a few at a time.

Invariant: it builds on what may be composed at the moment (`envpool.curation.parts`), so a program that was just
admitted is a brick of the next search, and it asks for room before it searches. Which operators and sizes come next
follows the variance of the policy's success, and which chains are preferred its predicted success, as far as
`compose` says so. Search, operators and predictions are `envpool`'s.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from actors import roster
from actors.base import Actor
from envpool.composition.chains import SearchSettings
from envpool.composition.composer import Composer, ComposerSettings
from envpool.curation.kinds import choose_kinds
from envpool.curation.parts import bricks_in
from envpool.curation.prediction import Aim, Prediction
from envpool.curation.shown import Showing, Shown

APART = 1 << 40
"""Between the seeds of two composers: more than a journal has entries."""


class ComposerActor(Actor):
    """Proposes composites while training runs."""

    background_nice = 10

    async def start(self) -> None:
        compose = self.config.compose
        # Another seed at each start, so that a restarted composer does not search the same chains again.
        seed = self.config.run.seed + self.pool_reader.last_sequence() + roster.number_of(self.name) * APART
        search = SearchSettings(
            depth=max(compose.size), expansions=compose.expansions, max_literal=compose.literal_limit
        )
        self._proposed = self._admitted = 0
        self._rng = random.Random(seed)
        self._showing = Showing(self.config.own("curator"), compose.level)
        self._composer = Composer(
            self.sandboxes,
            bricks_in(self.pool_reader),
            ComposerSettings(level=compose.level, search=search),
            seed=seed,
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
        compose, shown = self.config.compose, self._showing.read(self.pool_reader)
        kinds = choose_kinds(self._rng, compose.operators, compose.size, shown, self.config.composer.batch)
        self._composer.use(bricks_in(self.pool_reader), self._aim(shown, [size for _, size in kinds]))
        for member in await self._composer.compose(kinds):
            self._proposed += 1
            self._admitted += await self.peers.validator.judge_composite(member.to_dict())

    def _aim(self, shown: Shown, sizes: Sequence[int]) -> Aim | None:
        """What the search prefers; None: it is random (RACES)."""
        success = self.config.compose.success
        return None if success is None else Aim(Prediction(shown), success, sizes)
