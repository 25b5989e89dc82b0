"""The composer actor: fuses members into composites by frontier search, a few at a time.

Invariant: it builds on what may be composed at the moment (`envpool.curation.parts`), so a program that was just
admitted is a brick of the next search, and it asks for room before it searches. Which operators and sizes come next
follows the variance of the policy's success, and which chains are preferred its predicted success, unless `compose`
has it at random, as in RACES. Search, operators and predictions are `envpool`'s.
"""

from __future__ import annotations

import random

from actors import roster
from actors.base import Actor
from cluster.sections.evolving import ComposeConfig
from envpool.composition.chains import SearchSettings
from envpool.composition.composer import Composer, ComposerSettings
from envpool.curation.kinds import Kind, choose_kinds
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
        self._distrust = ""
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
        if not hasattr(self, "_composer"):
            return {}
        apart = float(bool(self._composer.distrust))
        return {"proposed": self._proposed, "admitted": self._admitted, "apart": apart}

    async def _compose_once(self) -> None:
        if not self.working:
            await self.idle("run")
            return
        await self.idle("", self.config.composer.interval_seconds)
        if await self.peers.validator.room() == 0:
            await self.idle("validator")
            return
        self.waiting_for = "sandbox"
        shown, count = self._showing.read(self.pool_reader), self.config.composer.batch
        kinds, aim = choices(self.config.compose, shown, self._rng, count)
        self._composer.use(bricks_in(self.pool_reader), aim)
        for member in await self._composer.compose(kinds):
            self._proposed += 1
            self._admitted += await self.peers.validator.judge_composite(member.to_dict())
        await self._tell()

    async def _tell(self) -> None:
        """An alarm, once, where a brick is seen to falsify its neighbours."""
        told, self._distrust = self._distrust, self._composer.distrust
        if self._distrust and not told:
            text = f"{self.name} searches each brick in its own child, which is slow: one falsifies others."
            await self.peers.metrics.alarm("composer", f"{text} Quarantine it. {self._distrust}")


def choices(
    compose: ComposeConfig, shown: Shown, rng: random.Random, count: int
) -> tuple[list[Kind], Aim | None]:
    """Operators and sizes of what is made next, and what the search prefers; None: it is random (RACES).

    Where no success is sought, what was shown decides nothing, and all sizes are alike.
    """
    if compose.success is None:
        return choose_kinds(rng, compose.operators, compose.size, Shown(), count), None
    kinds = choose_kinds(rng, compose.operators, compose.size, shown, count)
    return kinds, Aim(Prediction(shown), compose.success, [size for _, size in kinds])
