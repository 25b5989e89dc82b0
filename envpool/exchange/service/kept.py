"""Serving a pool as it is: a snapshot, a backup, or a moment of a pool that somebody else writes.

Invariant: nothing is written and nothing is counted, so nothing evolves: questions are spread over families as `Pool`
does. The status says so. A question is rebuilt from its recipe, so that none is lost with whoever was asked.
"""

import logging
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from envpool.async_pool import AsyncPool, NoQuestion, UnknownMember
from envpool.contract import Instance, Outcome, Recipe
from envpool.exchange.draws import ITEM_SEED_BITS, item_seed
from envpool.exchange.service.backend import NothingToAsk, Question, UnknownQuestion, name_of
from envpool.exchange.service.counting import machine_fault
from envpool.execution import ProgramFault
from envpool.families import kin

logger = logging.getLogger(__name__)
KEPT_INSTANCES = 2048
"""Whose answers are likely to come next (ours)."""


class KeptPool:
    """A backend over a pool that the caller opens and closes; without a seed each one begins somewhere else."""

    def __init__(self, pool: AsyncPool, seed: int | None = None) -> None:
        self._pool = pool
        self._seed = secrets.randbits(ITEM_SEED_BITS) if seed is None else seed
        self._drawn = 0
        self._asked = frozenset(pool.ids())
        self._instances: OrderedDict[Recipe, Instance] = OrderedDict()

    async def sample(self, client: str, count: int) -> list[Question]:
        """As `Backend.sample`. What breaks is passed over: nothing here may be quarantined."""
        drawn = [await self._next() for _ in range(count)]
        questions = [question for question in drawn if question is not None]
        if not questions:
            raise NothingToAsk(f"none of {count} draws gave a question")
        return questions

    async def score(
        self, client: str, request: str, recipe: Recipe, responses: Sequence[str]
    ) -> list[Outcome]:
        """As `Backend.score`; nothing is counted."""
        if recipe.member not in self._asked or recipe.level > self._pool.level(recipe.member):
            raise UnknownQuestion(f"{recipe.member} is not asked here at level {recipe.level}")
        instance = self._instances.get(recipe) or await self._rebuilt(recipe)
        outcomes = await self._pool.score_all(instance, responses)
        if fault := machine_fault(outcomes):
            raise fault
        return outcomes

    async def status(self) -> dict[str, Any]:
        """As `Backend.status`."""
        return {
            "kind": "snapshot",
            "policy": self._pool.snapshot.provenance.policy,
            "counts": False,
            "members": len(self._asked),
            "fingerprint": self._pool.fingerprint,
            "questions": self._drawn,
        }

    async def _next(self) -> Question | None:
        seed = item_seed(self._seed, self._drawn)
        self._drawn += 1
        try:
            instance = self._remembered(await self._pool.draw(seed))
        except (NoQuestion, ProgramFault) as error:
            logger.warning("passed over: %s", error)
            return None
        member = self._pool.get(instance.recipe.member)
        return Question(instance.recipe, instance.prompt, name_of(member), member.family or kin(member))

    async def _rebuilt(self, recipe: Recipe) -> Instance:
        """Drawn as it was the first time, so that what was never asked is not judged either."""
        try:
            instance = await self._pool.draw(recipe.seed, member=recipe.member, level=recipe.level)
        except (NoQuestion, UnknownMember, ProgramFault) as error:
            raise UnknownQuestion(f"{recipe.key()} is no question: {error}") from error
        if instance.recipe != recipe:
            raise UnknownQuestion(f"{recipe.key()} is no question of the training side")
        return self._remembered(instance)

    def _remembered(self, instance: Instance) -> Instance:
        self._instances[instance.recipe] = instance
        if len(self._instances) > KEPT_INSTANCES:
            self._instances.popitem(last=False)
        return instance
