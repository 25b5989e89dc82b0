"""The evaluator actor: the same fixed questions before the first update and after the last.

Invariant: its questions are never trained on. Those of training families are on the held-out side of the split by
hash of the instance; the others belong to families that are set apart whole. Both ask what people wrote or brought in,
and nothing that a run made. A finished evaluation is kept in the pool and not done again. What could not be judged is
never counted as wrong: a failure of the machine is tried again, and a question whose program breaks, or that does not
fit the policy's context, has no score. Questions are spread over all solvers of the policy.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

from actors.base import Actor
from actors.lookup import PoolLookup
from actors.solvers import Answers
from envpool.contract import Failed, Instance, Recipe, Scored
from envpool.execution import Examiner, ProgramFault
from envpool.members import BROUGHT, Origin, Program
from training.policy.errors import GenerationRefused

BATCH = 256
"""Questions asked together: enough to keep an engine's batch full, few enough to see progress."""
REPEATS_OF_A_DRY_PROGRAM = 8
"""Draws without a new question in a row, after which a program's space of questions counts as used up."""
EVALUATION_SEEDS = 1 << 40
"""Seeds start here: apart from those the curator hands out, so that even a draw is never shared."""
ASKED = (Origin.SEED, Origin.BRICK, *BROUGHT)
"""Whose programs have questions."""


class EvaluatorActor(Actor):
    """Asks, judges, keeps."""

    async def start(self) -> None:
        self._examiner = Examiner(self.sandboxes, PoolLookup(self.pool_reader))
        self._done = 0
        self._lock = asyncio.Lock()

    async def evaluate(self, label: str) -> dict[str, Any]:
        """Success and well-formedness of every question of both sets. Idempotent by label."""
        await self.ready()
        async with self._lock:
            key = f"evaluation:{label}"
            known = await self.peers.pool.state(key)
            if known is None:
                recipes = await self._questions()
                known = {kind: await self._ask(recipes[kind]) for kind in recipes}
                await self.peers.pool.put_state(key, known)
                self.waiting_for = ""
            return known

    def gauges(self) -> dict[str, float]:
        return {"questions_answered": self._done}

    async def _questions(self) -> dict[str, list[dict[str, Any]]]:
        """The recipes of both sets; chosen once, kept with the pool."""
        known = await self.peers.pool.state("evaluation:questions")
        if known is None:
            evaluation = self.config.evaluation
            await self.caught_up()  # or members admitted just now would be in no question
            known = {
                "training_families": await self._draw(False, evaluation.questions),
                "held_out_families": await self._draw(True, evaluation.held_out_questions),
            }
            await self.peers.pool.put_state("evaluation:questions", known)
        return known

    async def _draw(self, apart: bool, count: int) -> list[dict[str, Any]]:
        """`count` distinct questions, spread evenly over the programs of the set; fewer only if it has no more."""
        members = [m for m in map(self.pool_reader.get, sorted(self.pool_reader.ids())) if m]
        programs = [
            m.id
            for m in members
            if isinstance(m.material, Program) and m.held_out == apart and m.origin in ASKED
        ]
        random.Random(self.config.run.seed).shuffle(programs)
        found: dict[str, Recipe] = {}
        repeats: Counter[str] = Counter()
        draw = 0
        while len(found) < count and (
            wet := [id for id in programs if repeats[id] < REPEATS_OF_A_DRY_PROGRAM]
        ):
            for id in wet:
                instance = await self._instance(id, draw, apart)
                if instance is None or instance.digest in found:
                    repeats[id] += 1
                else:
                    found[instance.digest], repeats[id] = instance.recipe, 0
            draw += 1
        return [recipe.to_dict() for recipe in list(found.values())[:count]]

    async def _instance(self, id: str, draw: int, apart: bool) -> Instance | None:
        member = self.pool_reader.get(id)
        assert member is not None
        recipe = Recipe(id, EVALUATION_SEEDS + draw, member.level_within(self.config.evaluation.level))
        try:
            if apart:
                return await self._examiner.build(recipe)
            return await self._examiner.build_split(recipe, held_out=True)
        except ProgramFault:
            return None

    async def _ask(self, recipes: list[dict[str, Any]]) -> list[dict[str, Any]]:
        answered: list[dict[str, Any]] = []
        for start in range(0, len(recipes), BATCH):
            batch = [Recipe.from_dict(recipe) for recipe in recipes[start : start + BATCH]]
            answered += await self._ask_batch(batch)
            self._done += len(batch)
        return answered

    async def _ask_batch(self, recipes: list[Recipe]) -> list[dict[str, Any]]:
        built = await asyncio.gather(*map(self._examiner.build, recipes), return_exceptions=True)
        for each in built:
            if isinstance(each, BaseException) and not isinstance(each, ProgramFault):
                raise each
        instances = [each for each in built if isinstance(each, Instance)]
        policy, evaluation = self.config.policy, self.config.evaluation
        self.waiting_for = "solver"
        answers = await self.solvers.ask_each(
            [instance.prompt for instance in instances],
            evaluation.repeats,
            policy.max_tokens,
            evaluation.temperature,
        )
        self.waiting_for = "sandbox"
        judged = iter(await asyncio.gather(*map(self._judge, instances, answers)))
        return [
            next(judged) if isinstance(each, Instance) else _unscored(recipe, str(each))
            for recipe, each in zip(recipes, built, strict=True)
        ]

    async def _judge(self, instance: Instance, answers: Answers | GenerationRefused) -> dict[str, Any]:
        if isinstance(answers, GenerationRefused):
            return _unscored(instance.recipe, f"the policy cannot be asked: {answers}")
        outcomes = await self._examiner.score_all(instance, [answer["text"] for answer in answers])
        failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
        if machine := [outcome for outcome in failed if outcome.machine]:
            raise RuntimeError(f"question {instance.recipe.key()} could not be judged: {machine[0].reason}")
        if failed:  # the same on every try: the question leaves both evaluations
            return _unscored(instance.recipe, failed[0].reason)
        scored = [outcome for outcome in outcomes if isinstance(outcome, Scored)]
        return {
            "member": instance.recipe.member,
            "success": sum(outcome.success for outcome in scored) / len(outcomes),
            "parsed": len(scored) / len(outcomes),
        }


def _unscored(recipe: Recipe, why: str) -> dict[str, Any]:
    return {"member": recipe.member, "success": None, "parsed": None, "why": why}
